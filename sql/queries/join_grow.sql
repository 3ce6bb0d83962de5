-- Add the records whose place depends on that of one that is looked for: of two records of one call
-- one gets the span, a span made of a record lies below one made of another, and of two that would
-- be one span the fuller is. Two traces that number their calls alike do not meet; a record that
-- names no trace meets them all.
INSERT INTO pending
SELECT rowid, standin_trace_id, standin_span_id, tool_call_id, trace_id, rowid
FROM log_records
WHERE standin_span_id IS NOT NULL
    AND rowid NOT IN (SELECT row_no FROM pending)
    AND (
        standin_trace_id IN (SELECT standin_trace_id FROM pending)
        OR standin_span_id IN (SELECT standin_span_id FROM pending)
        OR tool_call_id IN (SELECT tool_call_id FROM pending WHERE trace_id IS NULL)
        OR trace_id IS NULL AND tool_call_id IN (SELECT tool_call_id FROM pending)
        OR tool_call_id IS NOT NULL -- rows of two NULLs would be equal
            AND (tool_call_id, trace_id) IN (SELECT (tool_call_id, trace_id) FROM pending)
    );
