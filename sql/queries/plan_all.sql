-- All traces in the order of their first span, with the rows they lie between.
SELECT trace_id, count(*) AS spans, min(rowid) AS first_row, max(rowid) AS last_row
FROM spans
GROUP BY trace_id
ORDER BY min(start_time) NULLS LAST, trace_id;
