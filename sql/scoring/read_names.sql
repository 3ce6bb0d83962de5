-- Every name that steps of the traces to be scored have; few, however many the steps are.
-- Parameters: trace_ids (NULL: all).
WITH found AS (
    SELECT
        step_type IN ('tool_call', 'mcp_tool_call', 'provider_tool_call') AS is_tool,
        step_type,
        name,
        mcp_server,
        label,
        fields
    FROM steps
    WHERE $trace_ids::VARCHAR[] IS NULL OR trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
)
SELECT DISTINCT is_tool, name, mcp_server, NULL AS label, NULL AS id
FROM found
WHERE is_tool
UNION ALL
SELECT DISTINCT is_tool, name, NULL, label, CASE step_type
    WHEN 'agent_run' THEN text_of(fields, '$.agent_id')
    WHEN 'workflow_run' THEN text_of(fields, '$.workflow_id')
    WHEN 'workflow_step' THEN text_of(fields, '$.step_id')
    WHEN 'processor_run' THEN text_of(fields, '$.processor_id')
END
FROM found
WHERE NOT is_tool;
