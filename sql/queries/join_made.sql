-- The spans that were made of records and have one of some ids. Parameters: span_ids.
SELECT rowid, trace_id, span_id
FROM spans
WHERE span_id IN (SELECT unnest($span_ids::VARCHAR[]))
    AND contains(attributes, '"trajscope.from_log"')
    AND (attributes->>'$."trajscope.from_log"') = 'true';
