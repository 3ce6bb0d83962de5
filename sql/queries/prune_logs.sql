-- Delete the log records of the touched traces, and those that belong to no trace of the store and
-- are older than a time. One without a time is not known to be old. Parameters: before_ns.
DELETE FROM log_records
WHERE joined_trace_id IN (SELECT trace_id FROM touched)
    OR trace_id IN (SELECT trace_id FROM touched)
    OR (
        time < make_timestamp_ns($before_ns::BIGINT)
        AND coalesce(joined_trace_id NOT IN (SELECT trace_id FROM spans), true)
        AND coalesce(trace_id NOT IN (SELECT trace_id FROM spans), true)
    );
