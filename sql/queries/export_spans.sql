-- Spans of some traces, or of all, by day (of the trace's first time) and capture, whole traces
-- together. Captures stay apart since where no session is named, a call is answered in its capture.
-- JSON goes out as text: every reader of Parquet knows that. Parameters: trace_ids.
WITH places AS (
    SELECT
        trace_id,
        coalesce(strftime(min(coalesce(start_time, end_time)), '%Y-%m-%d'), 'unknown') AS day,
        max(capture_no) AS capture
    FROM spans
    WHERE $trace_ids::VARCHAR[] IS NULL OR trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
    GROUP BY trace_id
)
SELECT 'day=' || day || '/spans-' || lpad(capture::VARCHAR, 5, '0') || '.parquet' AS file,
    spans.* EXCLUDE (capture_no, own_reading)
FROM spans
JOIN places USING (trace_id)
ORDER BY day, capture, trace_id, start_time NULLS LAST, span_id;
