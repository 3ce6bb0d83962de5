-- The spans that lose a record because the same one came again with more attributes; where that one
-- belongs is found out anew. Parameters: capture_no.
INSERT INTO reread
SELECT old.joined_trace_id, old.joined_span_id
FROM log_records old
JOIN log_records fresh USING (record_key)
WHERE fresh.capture_no = $capture_no
    AND old.capture_no <> $capture_no
    AND old.role = 'event'
    AND old.standin_span_id IS NOT NULL
    AND (old.attributes->>'$."trajscope.dropped_attributes"') IS NOT NULL;
