-- Forget captures of a list that have no span and no log record left. Parameters: captures.
DELETE FROM captures
WHERE capture_no IN (SELECT unnest($captures::INTEGER[]))
    AND capture_no NOT IN (SELECT capture_no FROM spans)
    AND capture_no NOT IN (SELECT capture_no FROM log_records);
