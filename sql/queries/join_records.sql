-- The records of some parts: what they stand for, and where they belong so far. Parameters:
-- first_part, last_part.
SELECT
    log_records.rowid, log_records.trace_id, span_id, standin, reading, log_records.session_id,
    log_records.tool_call_id, joined_trace_id, joined_span_id, role, capture_no
FROM log_records
JOIN pending ON pending.row_no = log_records.rowid
WHERE part BETWEEN $first_part AND $last_part
ORDER BY log_records.rowid;
