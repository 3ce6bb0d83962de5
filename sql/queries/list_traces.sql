-- The key figures of some traces, or of all, in the order of their first span.
-- Parameters: trace_ids, NULL for all.
WITH counted AS (
    SELECT
        trace_id,
        count(*) AS steps,
        count(*) FILTER (is_tool) AS calls,
        count(*) FILTER (is_tool AND success = false) AS failed_calls
    FROM (
        SELECT *, step_type IN ('tool_call', 'mcp_tool_call', 'provider_tool_call') AS is_tool
        FROM steps
    )
    WHERE $trace_ids::VARCHAR[] IS NULL OR trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
    GROUP BY trace_id
)
SELECT
    trace_id, session_id, epoch_ns(start_time), duration_ns, len(root_span_ids), len(orphans),
    missing_parents, agents, span_count, noise_span_count, model_calls, input_tokens, output_tokens,
    cached_input_tokens, tokens_complete, coalesce(steps, 0), coalesce(calls, 0),
    coalesce(failed_calls, 0)
FROM trajectories
LEFT JOIN counted USING (trace_id)
WHERE $trace_ids::VARCHAR[] IS NULL OR trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
ORDER BY start_time NULLS LAST, trace_id;
