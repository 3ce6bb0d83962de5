-- Traces that got spans or log records from captures after one, with all traces of their sessions;
-- and the last capture. Parameters: after.
WITH touched AS (
    SELECT trace_id FROM spans WHERE capture_no > $after
    UNION
    SELECT joined_trace_id FROM log_records WHERE capture_no > $after
),
sessions AS (
    SELECT DISTINCT session_id FROM trajectories
    WHERE trace_id IN (FROM touched) AND session_id IS NOT NULL
)
SELECT trace_id, greatest(
    (SELECT max(capture_no) FROM spans), (SELECT max(capture_no) FROM log_records)
) AS last_capture
FROM trajectories
WHERE trace_id IN (FROM touched) OR session_id IN (FROM sessions)
ORDER BY start_time NULLS LAST, trace_id;
