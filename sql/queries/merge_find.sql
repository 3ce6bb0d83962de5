-- Find every record of the spans that the store holds more than once, now that a capture was
-- appended. Parameters: capture_no.
-- Two records with one `content` are alike in everything that was recorded.
INSERT INTO versions
WITH repeated AS (
    SELECT trace_id, span_id
    FROM spans
    WHERE trace_id IN (SELECT trace_id FROM spans WHERE capture_no = $capture_no)
    GROUP BY trace_id, span_id
    HAVING count(*) > 1
)
SELECT
    spans.rowid,
    trace_id,
    span_id,
    capture_no,
    end_time IS NOT NULL,
    end_time,
    detail_count,
    beyond IS NOT NULL,
    hash(
        parent_span_id, name, kind, start_time, end_time, status_code, status_message, trace_state,
        scope_name, scope_version, resource_attributes, attributes, events, links, beyond
    )
FROM spans
SEMI JOIN repeated USING (trace_id, span_id);
