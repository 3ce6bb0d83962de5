-- Of each span keep one record: ended before open, then the later end, then more attributes and
-- events; of records that are alike the one the store had. Spans where that leaves two different
-- records are for Python (merge_ties), which ranks them by their content.
INSERT INTO losers
SELECT row_no, capture_no
FROM versions
QUALIFY row_number() OVER (
    PARTITION BY trace_id, span_id
    ORDER BY ended DESC, end_time DESC NULLS LAST, detail_count DESC, content, capture_no, row_no
) > 1;
