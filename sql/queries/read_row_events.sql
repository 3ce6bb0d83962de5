-- The log records that are events of some spans, by the rows of the spans. Parameters: rows.
SELECT
    joined_trace_id, joined_span_id, epoch_ns(log_records.time), event_name, body,
    log_records.attributes, log_records.beyond
FROM log_records
JOIN (
    SELECT trace_id, span_id FROM spans WHERE rowid IN (SELECT unnest($rows::BIGINT[]))
) asked
    ON asked.trace_id = joined_trace_id AND asked.span_id = joined_span_id
WHERE role = 'event';
