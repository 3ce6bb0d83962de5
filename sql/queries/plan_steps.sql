-- Traces in the order of their start, with the rows their steps lie between. Parameters: trace_ids
-- (NULL: all).
SELECT
    traces.trace_id,
    count(steps.trace_id) AS steps,
    coalesce(min(steps.rowid), 0) AS first_row,
    coalesce(max(steps.rowid), 0) AS last_row
FROM trajectories traces
LEFT JOIN steps USING (trace_id)
WHERE $trace_ids IS NULL OR traces.trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
GROUP BY traces.trace_id, traces.start_time
ORDER BY traces.start_time NULLS LAST, traces.trace_id;
