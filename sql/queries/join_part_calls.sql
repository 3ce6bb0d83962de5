-- Put records that may be about one call into one part: of one call id and one trace, or of one
-- call id alone where a record of it names no trace.
UPDATE pending SET part = least_part
FROM (
    SELECT row_no, min(part) OVER (
        PARTITION BY tool_call_id, CASE WHEN NOT is_loose THEN trace_id END
    ) AS least_part
    FROM (
        SELECT *, bool_or(trace_id IS NULL) OVER (PARTITION BY tool_call_id) AS is_loose
        FROM pending
        WHERE tool_call_id IS NOT NULL
    )
) first
WHERE first.row_no = pending.row_no AND first.least_part < pending.part;
