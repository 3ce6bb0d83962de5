-- Everything of some spans, by their rows. Parameters: rows.
SELECT
    rowid,
    trace_id, span_id, parent_span_id, name, kind, epoch_ns(start_time), epoch_ns(end_time),
    status_code, status_message, trace_state, scope_name, scope_version,
    attributes, events, links, resource_attributes, beyond, reading, capture_no, own_reading
FROM spans
WHERE rowid IN (SELECT unnest($rows::BIGINT[]));
