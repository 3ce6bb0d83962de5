-- Every way a step is called.
SELECT kind_no, step_type, name, label, mcp_server, agent_id, processor_id FROM audit_kinds;
