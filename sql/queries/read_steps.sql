-- The steps of some traces, depth first. The rows are a hint that spares reading the whole table.
-- Parameters: trace_ids, first_row, last_row.
SELECT
    trace_id, span_id, step_id, parent_step_id, depth, ord, lft, rgt, step_type, name, label, agent,
    agent_span_id, args, result, success, failed, failure, executed, from_messages, tool_call_id,
    mcp_server, model, input_tokens, output_tokens, model_calls, epoch_ns(start_time),
    epoch_ns(end_time), session_id, fields
FROM steps
WHERE rowid BETWEEN $first_row AND $last_row
    AND trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
ORDER BY trace_id, lft;
