-- How many log records the store holds, of some traces or of all. Parameters: trace_ids (NULL: all)
SELECT count(*)
FROM log_records
WHERE $trace_ids::VARCHAR[] IS NULL
    OR joined_trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
    OR trace_id IN (SELECT unnest($trace_ids::VARCHAR[]));
