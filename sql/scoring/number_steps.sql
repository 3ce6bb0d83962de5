-- Number the steps of the traces to be scored and their names, all in whole numbers. row_no: rowid
-- of the step in `steps`, for all that is only needed of a few. run: key of the agent run a tool call
-- belongs to, '' outside of all. Made as a whole: rows that are inserted are written twice.
CREATE OR REPLACE TABLE judged_steps AS
SELECT
    t,
    row_no,
    name_no,
    tool_no,
    step.is_tool,
    executed,
    success,
    depth,
    lft,
    ord,
    CASE WHEN step.is_tool THEN coalesce(nullif(agent_span_id, ''), agent, '') END AS run,
    args_key,
    start_time,
    end_time
FROM (
    SELECT
        rowid AS row_no,
        *,
        step_type IN ('tool_call', 'mcp_tool_call', 'provider_tool_call') AS is_tool,
        CASE step_type
            WHEN 'agent_run' THEN text_of(fields, '$.agent_id')
            WHEN 'workflow_run' THEN text_of(fields, '$.workflow_id')
            WHEN 'workflow_step' THEN text_of(fields, '$.step_id')
            WHEN 'processor_run' THEN text_of(fields, '$.processor_id')
        END AS id
    FROM steps
) step
JOIN judged_traces USING (trace_id)
JOIN judged_names names
    ON names.is_tool = step.is_tool
    AND names.name = step.name
    AND names.mcp_server IS NOT DISTINCT FROM CASE WHEN step.is_tool THEN step.mcp_server END
    AND names.label IS NOT DISTINCT FROM CASE WHEN NOT step.is_tool THEN step.label END
    AND names.id IS NOT DISTINCT FROM step.id;
