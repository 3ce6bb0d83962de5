-- Append the spans of one capture. incoming: the Arrow stream. Parameters: capture_no.
INSERT INTO spans BY NAME
SELECT *, $capture_no::INTEGER AS capture_no FROM incoming;
