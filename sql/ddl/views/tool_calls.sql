CREATE VIEW tool_calls AS
SELECT
    trace_id,
    span_id,
    step_id,
    ord,
    name AS tool,
    step_type,
    args,
    result,
    success,
    failure,
    executed,
    agent,
    mcp_server,
    tool_call_id,
    start_time,
    ns_to_ms(duration_ns) AS duration_ms,
    session_id
FROM steps
WHERE step_type IN ('tool_call', 'mcp_tool_call', 'provider_tool_call');
COMMENT ON VIEW tool_calls IS 'Every tool call of every trace, at any depth; also those that were requested and never ran.';
COMMENT ON COLUMN tool_calls.success IS 'false is known to have failed, NULL is unknown.';
COMMENT ON COLUMN tool_calls.executed IS 'False for a call that a model requested and that never ran.';
