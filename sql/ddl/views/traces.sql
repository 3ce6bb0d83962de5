CREATE VIEW traces AS
WITH calls AS (
    SELECT
        trace_id,
        count(*) AS steps,
        count(*) FILTER (step_type LIKE '%tool_call') AS tool_calls,
        count(*) FILTER (step_type LIKE '%tool_call' AND success = false) AS failed_tool_calls
    FROM steps
    GROUP BY trace_id
),
roots AS (
    SELECT trace_id, span_id, name, service_name, status_code FROM spans
)
SELECT
    t.trace_id,
    t.session_id,
    t.start_time,
    ns_to_ms(t.duration_ns) AS duration_ms,
    root.name AS root_name,
    root.service_name,
    root.status_code,
    t.agents,
    t.span_count,
    t.noise_span_count,
    coalesce(calls.steps, 0) AS steps,
    coalesce(calls.tool_calls, 0) AS tool_calls,
    coalesce(calls.failed_tool_calls, 0) AS failed_tool_calls,
    t.model_calls,
    t.input_tokens,
    t.output_tokens,
    t.input_tokens + t.output_tokens AS total_tokens,
    t.tokens_complete,
    len(t.root_span_ids) AS roots,
    len(t.orphans) AS orphans,
    len(t.missing_parents) AS missing_parents
FROM trajectories t
LEFT JOIN calls USING (trace_id)
LEFT JOIN roots root
    ON root.trace_id = t.trace_id
    AND root.span_id = coalesce(t.root_span_ids[1], t.orphans[1]);
COMMENT ON VIEW traces IS 'One row per trace: when, how long, which agents, how many calls, how many tokens.';
COMMENT ON COLUMN traces.duration_ms IS 'Of the single root, milliseconds; NULL when there are several.';
COMMENT ON COLUMN traces.root_name IS 'Name of the first root span, else of the first orphan.';
COMMENT ON COLUMN traces.tokens_complete IS 'False when a model call did not record its tokens.';
