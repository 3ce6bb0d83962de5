-- Everything of the spans of some traces. The rows are a hint that spares reading the whole table.
-- Parameters: trace_ids, first_row, last_row.
SELECT
    trace_id, span_id, parent_span_id, name, kind, epoch_ns(start_time), epoch_ns(end_time),
    status_code, status_message, trace_state, scope_name, scope_version,
    attributes, events, links, resource_attributes, beyond, reading
FROM spans
WHERE rowid BETWEEN $first_row AND $last_row
    AND trace_id IN (SELECT unnest($trace_ids::VARCHAR[]));
