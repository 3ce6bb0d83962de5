-- What was understood of log records before they lost attributes, by the spans they are events of,
-- these by their rows. Parameters: rows.
SELECT joined_trace_id, joined_span_id, log_records.reading
FROM log_records
JOIN (
    SELECT trace_id, span_id FROM spans WHERE rowid IN (SELECT unnest($rows::BIGINT[]))
) asked
    ON asked.trace_id = joined_trace_id AND asked.span_id = joined_span_id
WHERE role = 'event'
    AND log_records.reading IS NOT NULL
    AND contains(log_records.attributes, '"trajscope.dropped_attributes"')
ORDER BY log_records.time, record_key;
