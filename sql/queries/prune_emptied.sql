-- Forget captures of a list that have no span and no log record left; all of them, also those that
-- only repeated others, when the store has none. Parameters: captures.
DELETE FROM captures
WHERE (
        capture_no IN (SELECT unnest($captures::INTEGER[]))
        OR NOT EXISTS (FROM spans) AND NOT EXISTS (FROM log_records)
    )
    AND capture_no NOT IN (SELECT capture_no FROM spans)
    AND capture_no NOT IN (SELECT capture_no FROM log_records);
