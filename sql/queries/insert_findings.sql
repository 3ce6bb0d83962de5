-- Append findings. incoming: an Arrow table.
INSERT INTO findings BY NAME SELECT *, now() AT TIME ZONE 'UTC' AS found_at FROM incoming;
