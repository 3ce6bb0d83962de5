-- The combinations with what their steps are called.
SELECT
    combo_no, step_type, name, label, mcp_server, agent_id, processor_id, agent, executed, success,
    failed, startless, endless
FROM audit_combos
JOIN audit_kinds USING (kind_no);
