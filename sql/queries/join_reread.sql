-- The spans that a capture brought and that have log records, and those its records are about.
-- Parameters: capture_no.
INSERT INTO reread
SELECT joined_trace_id, joined_span_id
FROM log_records
WHERE role = 'event' AND capture_no = $capture_no
UNION
SELECT trace_id, span_id
FROM spans
WHERE capture_no = $capture_no
    AND (trace_id, span_id) IN (
        SELECT (joined_trace_id, joined_span_id) FROM log_records WHERE role = 'event'
    );
