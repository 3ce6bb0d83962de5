-- The steps of these traces as numbers; n follows trace and order.
CREATE OR REPLACE TABLE audit_steps AS
SELECT
    row_number() OVER (ORDER BY traces.trace_no, step.ord, step.lft) AS n,
    traces.trace_no,
    traces.session_no,
    kinds.kind_no,
    step.row_no,
    step.lft,
    step.rgt,
    step.depth,
    step.step_type,
    step.executed,
    step.success,
    step.failed,
    step.agent,
    epoch_ns(step.start_time) AS start_ns,
    epoch_ns(step.end_time) AS end_ns,
    step.span_id,
    step.agent_span_id,
    step.args_key,
    step.step_id,
    step.parent_step_id
FROM (
    SELECT
        rowid AS row_no,
        *,
        step_type IN ('tool_call', 'mcp_tool_call', 'provider_tool_call') AS is_tool
    FROM steps
) step
JOIN audit_traces traces USING (trace_id)
JOIN audit_kinds kinds
    ON kinds.step_type = step.step_type
    AND kinds.name = step.name
    AND kinds.label IS NOT DISTINCT FROM CASE WHEN NOT step.is_tool THEN step.label END
    AND kinds.mcp_server IS NOT DISTINCT FROM step.mcp_server
    AND kinds.agent_id IS NOT DISTINCT FROM step.fields->>'$.agent_id'
    AND kinds.processor_id IS NOT DISTINCT FROM step.fields->>'$.processor_id'
ORDER BY n;
