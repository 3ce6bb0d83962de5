-- Delete the log records of the touched traces, those that name one and belong to none that stays,
-- and those that belong to no trace of the store and are older than a time. One without a time is
-- not known to be old. The spans of the touched traces are gone already. Parameters: before_ns.
DELETE FROM log_records
WHERE joined_trace_id IN (SELECT trace_id FROM touched)
    OR (
        coalesce(joined_trace_id NOT IN (SELECT trace_id FROM spans), true)
        AND (
            trace_id IN (SELECT trace_id FROM touched)
            OR (
                time < make_timestamp_ns($before_ns::BIGINT)
                AND coalesce(trace_id NOT IN (SELECT trace_id FROM spans), true)
            )
        )
    );
