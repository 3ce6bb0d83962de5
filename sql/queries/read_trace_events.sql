-- The log records that are events of the spans of some traces. Parameters: trace_ids.
SELECT joined_trace_id, joined_span_id, epoch_ns(time), event_name, body, attributes, beyond
FROM log_records
WHERE role = 'event' AND joined_trace_id IN (SELECT unnest($trace_ids::VARCHAR[]));
