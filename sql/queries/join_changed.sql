-- The traces a capture brought spans of. Parameters: capture_no.
INSERT INTO changed
SELECT DISTINCT trace_id FROM spans WHERE capture_no = $capture_no;
