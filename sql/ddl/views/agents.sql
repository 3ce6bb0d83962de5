CREATE VIEW agents AS
WITH calls AS (
    SELECT
        trace_id,
        agent_span_id,
        count(*) FILTER (step_type LIKE '%tool_call') AS tool_calls,
        count(*) FILTER (step_type LIKE '%tool_call' AND success = false) AS failed_tool_calls,
        sum(model_calls)::BIGINT AS model_calls,
        sum(input_tokens)::BIGINT AS input_tokens,
        sum(output_tokens)::BIGINT AS output_tokens
    FROM steps
    WHERE agent_span_id IS NOT NULL
    GROUP BY trace_id, agent_span_id
)
SELECT
    run.trace_id,
    run.span_id,
    run.name AS agent,
    run.failed,
    coalesce(calls.tool_calls, 0) AS tool_calls,
    coalesce(calls.failed_tool_calls, 0) AS failed_tool_calls,
    calls.model_calls,
    calls.input_tokens,
    calls.output_tokens,
    run.start_time,
    ns_to_ms(run.duration_ns) AS duration_ms,
    run.session_id
FROM steps run
LEFT JOIN calls ON calls.trace_id = run.trace_id AND calls.agent_span_id = run.span_id
WHERE run.step_type = 'agent_run';
COMMENT ON VIEW agents IS 'Every run of an agent, with what it did itself (its sub-agents have rows of their own).';
