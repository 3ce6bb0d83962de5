-- Number the spans of one part by trace and time. Parameters: part.
INSERT INTO nodes
SELECT
    n,
    min(n) OVER (PARTITION BY trace_id),
    row_no, trace_id, span_id, parent_span_id, start_time, end_time, is_kept, is_agent, is_model_call
FROM (
    SELECT
        row_number() OVER (ORDER BY trace_id, start_time NULLS LAST, span_id) AS n,
        rowid AS row_no,
        trace_id,
        span_id,
        parent_span_id,
        start_time,
        end_time,
        step_type IS NOT NULL AS is_kept,
        coalesce(step_type = 'agent_run', false) AS is_agent,
        coalesce(is_model_call, false) AS is_model_call
    FROM spans
    WHERE trace_id IN (SELECT trace_id FROM touched WHERE part = $part)
);
