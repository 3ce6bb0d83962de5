-- Write the steps of the traces in which no rule of RESOLVE has anything to do.
INSERT INTO steps BY NAME
SELECT
    node.trace_id,
    node.span_id,
    node.span_id AS step_id,
    above.span_id AS parent_step_id,
    places.depth,
    places.ord,
    places.lft,
    places.rgt,
    span.step_type,
    coalesce(
        nullif(span.step_name, ''),
        CASE WHEN node.is_model_call THEN nullif(span.model, '') END,
        span.name
    ) AS name,
    span.name AS label,
    CASE
        WHEN node.is_agent THEN NULL
        WHEN places.agent IS NULL THEN nullif(span.agent_name, '')
        ELSE nullif(agent_span.step_name, '')
    END AS agent,
    agent.span_id AS agent_span_id,
    span.args,
    span.args_key,
    span.result,
    NOT CASE WHEN is_tool THEN coalesce(span.failed, CASE WHEN ended THEN false END) END AS success,
    CASE WHEN is_tool AND ended THEN coalesce(span.failed, false) ELSE span.failed END AS failed,
    CASE WHEN span.failed THEN nullif(span.failure, '') END AS failure,
    true AS executed,
    false AS from_messages,
    CASE WHEN is_tool THEN nullif(span.tool_call_id, '') END AS tool_call_id,
    CASE WHEN span.step_type = 'mcp_tool_call' THEN nullif(span.mcp_server, '') END AS mcp_server,
    CASE WHEN node.is_model_call THEN nullif(span.model, '') END AS model,
    CASE WHEN node.is_model_call THEN span.input_tokens END AS input_tokens,
    CASE WHEN node.is_model_call THEN span.output_tokens END AS output_tokens,
    CASE WHEN node.is_model_call THEN 1 END AS model_calls,
    span.start_time,
    span.end_time,
    span.duration_ns,
    traces.session_id,
    span.fields
FROM places
JOIN nodes node ON node.n = places.n
JOIN (
    SELECT
        rowid AS row_no,
        *,
        step_type IN ('tool_call', 'mcp_tool_call', 'provider_tool_call') AS is_tool,
        end_time IS NOT NULL AS ended
    FROM spans
) span ON span.row_no = node.row_no
LEFT JOIN nodes above ON above.n = places.up
LEFT JOIN nodes agent ON agent.n = places.agent
LEFT JOIN spans agent_span ON agent_span.rowid = agent.row_no
JOIN trajectories traces ON traces.trace_id = node.trace_id
WHERE node.trace_id NOT IN (SELECT trace_id FROM unresolved)
ORDER BY places.n;
