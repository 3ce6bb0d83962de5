-- Append scores. incoming: an Arrow table.
INSERT INTO scores BY NAME SELECT *, now() AT TIME ZONE 'UTC' AS scored_at FROM incoming;
