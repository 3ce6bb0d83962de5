-- Append what the definition said of odd traces. incoming: rows of `scored`.
INSERT INTO scored BY NAME
SELECT * REPLACE (details::JSON AS details) FROM incoming;
