-- What spans say that has a part in where records belong: of some traces and sessions, and of some
-- calls. Spans made of records are left out. is_plain: the columns hold what the span itself says,
-- without log records. Parameters: trace_ids, session_ids, call_ids.
SELECT
    spans.rowid, trace_id, span_id, parent_span_id, epoch_ns(end_time), step_type, step_name,
    is_model_call, tool_call_id, session_id, capture_no,
    beyond IS NULL AND own_reading IS NULL AND NOT contains(attributes, '"trajscope.from_log"')
        AS is_plain
FROM spans
WHERE (
        trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
        OR tool_call_id IN (SELECT unnest($call_ids::VARCHAR[]))
        OR trace_id IN (
            SELECT trace_id FROM spans
            WHERE session_id IN (SELECT unnest($session_ids::VARCHAR[]))
        )
    )
    AND (trace_id, span_id) NOT IN (
        SELECT (joined_trace_id, joined_span_id) FROM log_records WHERE role = 'span'
    );
