-- Traces that may be beyond a budget, or whose figures may be unknown. Parameters: rule_no,
-- scope_no, and the limits (NULL: none): steps, tool_calls, depth, model_calls, tokens,
-- input_tokens, output_tokens, duration_ns.
INSERT INTO audit_candidates
WITH counted AS (
    SELECT
        unit_no AS trace_no,
        count(*) AS steps,
        count(*) FILTER (step_type IN ('tool_call', 'mcp_tool_call', 'provider_tool_call'))
            AS tool_calls,
        max(depth) + 1 AS depth
    FROM audit_lines
    JOIN audit_steps USING (n)
    WHERE scope_no = $scope_no AND audit_lines.executed
    GROUP BY unit_no
)
SELECT $rule_no, trace_no
FROM audit_traces traces
LEFT JOIN counted USING (trace_no)
WHERE unfinished
    OR coalesce(counted.steps, 0) > $steps
    OR coalesce(counted.tool_calls, 0) > $tool_calls
    OR coalesce(counted.depth, 0) > $depth
    OR ($model_calls IS NOT NULL AND coalesce(traces.model_calls > $model_calls, true))
    OR ($tokens IS NOT NULL AND coalesce(
        NOT tokens_complete OR traces.input_tokens + traces.output_tokens > $tokens, true))
    OR ($input_tokens IS NOT NULL AND coalesce(
        NOT tokens_complete OR traces.input_tokens > $input_tokens, true))
    OR ($output_tokens IS NOT NULL AND coalesce(
        NOT tokens_complete OR traces.output_tokens > $output_tokens, true))
    OR ($duration_ns IS NOT NULL AND coalesce(traces.duration_ns > $duration_ns, true));
