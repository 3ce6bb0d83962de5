-- All traces, to derive everything afresh. Parameters: part_spans.
INSERT INTO touched
SELECT trace_id, (sum(spans) OVER (ORDER BY first, trace_id) - spans) // $part_spans
FROM (SELECT trace_id, count(*) AS spans, min(rowid) AS first FROM spans GROUP BY trace_id);
