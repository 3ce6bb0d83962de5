-- Everything of the steps that a matcher without its conditions means: n, then the columns of
-- queries/read_steps. Parameters: matcher_no.
SELECT
    audit_steps.n,
    steps.trace_id, steps.span_id, steps.step_id, steps.parent_step_id, steps.depth, steps.ord,
    steps.lft, steps.rgt, steps.step_type, steps.name, steps.label, steps.agent,
    steps.agent_span_id, steps.args, steps.result, steps.success, steps.failed, steps.failure,
    steps.executed, steps.from_messages, steps.tool_call_id, steps.mcp_server, steps.model,
    steps.input_tokens, steps.output_tokens, steps.model_calls, epoch_ns(steps.start_time),
    epoch_ns(steps.end_time), steps.session_id, steps.fields
FROM audit_hits
JOIN audit_steps USING (n)
JOIN steps ON steps.rowid = audit_steps.row_no
WHERE matcher_no = $matcher_no;
