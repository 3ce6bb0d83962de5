-- The traces of a list in the order of their first span. Parameters: trace_ids.
SELECT trace_id, count(*) AS spans, min(rowid) AS first_row, max(rowid) AS last_row
FROM spans
WHERE trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
GROUP BY trace_id
ORDER BY min(start_time) NULLS LAST, trace_id;
