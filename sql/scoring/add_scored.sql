-- Append what Python scored: odd traces, comparisons. incoming: rows of `scored`.
INSERT INTO scored BY NAME FROM incoming;
