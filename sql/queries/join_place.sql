-- Note where records belong now. incoming: row, trace, span and role.
UPDATE log_records
SET joined_trace_id = incoming.trace_id, joined_span_id = incoming.span_id, role = incoming.role
FROM incoming
WHERE log_records.rowid = incoming.row_no;
