-- The records between which length and end do not decide, with all that was recorded.
SELECT versions.row_no, versions.trace_id, versions.span_id
FROM versions
SEMI JOIN (
    SELECT trace_id, span_id
    FROM (
        SELECT
            trace_id,
            span_id,
            content,
            is_beyond,
            rank() OVER (
                PARTITION BY trace_id, span_id
                ORDER BY ended DESC, end_time DESC NULLS LAST, detail_count DESC
            ) AS place
        FROM versions
    )
    GROUP BY trace_id, span_id
    HAVING count(DISTINCT content) FILTER (place = 1) > 1
        OR bool_or(is_beyond) AND count(DISTINCT content) > 1
) USING (trace_id, span_id)
ORDER BY trace_id, span_id, content, capture_no, row_no;
