-- Log records in the order they came, of some traces or of all, a page at a time. Parameters:
-- trace_ids (NULL: all), after, most.
SELECT
    trace_id, span_id, epoch_ns(time), event_name, severity, scope_name, body, attributes,
    resource_attributes, beyond, rowid
FROM log_records
WHERE rowid > $after
    AND ($trace_ids::VARCHAR[] IS NULL OR trace_id IN (SELECT unnest($trace_ids::VARCHAR[])))
ORDER BY rowid
LIMIT $most;
