-- Number the traces that are to be scored, in the order of their first span.
-- Parameters: trace_ids (NULL: all). Odd are traces with roots and orphans (which step is under
-- an orphan only their spans know), with times no column can hold, and with counts beyond 2^53.
INSERT INTO judged_traces
WITH tops AS (
    SELECT
        trace_id,
        count(*) = 1 AND any_value(step_type) IN ('agent_run', 'workflow_run') AS is_run
    FROM steps
    WHERE depth = 0
    GROUP BY trace_id
)
SELECT
    row_number() OVER (ORDER BY start_time NULLS LAST, trace_id) - 1,
    trajectories.trace_id,
    session_id,
    tops.trace_id IS NOT NULL,
    coalesce(is_run AND len(root_span_ids) > 0, false),
    CASE WHEN is_run AND len(root_span_ids) > 0 THEN 1 ELSE 0 END,
    root_span_ids,
    duration_ns,
    CASE WHEN input_tokens + output_tokens::HUGEINT < 9007199254740992
        THEN input_tokens + output_tokens END,
    tokens_complete,
    (len(root_span_ids) > 0 AND len(orphans) > 0)
        OR coalesce(abs(duration_ns) >= 9007199254740992, false)
        OR coalesce(input_tokens + output_tokens::HUGEINT >= 9007199254740992, false)
        OR trajectories.trace_id IN (SELECT trace_id FROM spans WHERE beyond IS NOT NULL)
FROM trajectories
LEFT JOIN tops USING (trace_id)
WHERE $trace_ids::VARCHAR[] IS NULL OR trace_id IN (SELECT unnest($trace_ids::VARCHAR[]));
