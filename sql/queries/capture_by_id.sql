-- The number of a capture by its content, if it was ingested before. Parameters: capture_id.
SELECT capture_no FROM captures WHERE capture_id = $capture_id;
