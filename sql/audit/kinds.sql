-- Every way a step of these traces is called: what name patterns are held against, once each.
CREATE OR REPLACE TABLE audit_kinds AS
SELECT row_number() OVER ()::INTEGER AS kind_no, *
FROM (
    SELECT DISTINCT
        step_type,
        name,
        CASE WHEN NOT is_tool THEN label END AS label,
        mcp_server,
        fields->>'$.agent_id' AS agent_id,
        fields->>'$.processor_id' AS processor_id
    FROM (
        SELECT *, step_type IN ('tool_call', 'mcp_tool_call', 'provider_tool_call') AS is_tool
        FROM steps
        SEMI JOIN audit_traces USING (trace_id)
    )
);
