-- Append log records of one capture. incoming: an Arrow batch. Parameters: capture_no.
INSERT INTO log_records BY NAME
SELECT *, $capture_no::INTEGER AS capture_no FROM incoming;
