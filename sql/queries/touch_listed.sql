-- The traces of a list, to derive them afresh. Parameters: trace_ids, part_spans.
INSERT INTO touched
SELECT trace_id, (sum(spans) OVER (ORDER BY first, trace_id) - spans) // $part_spans
FROM (
    SELECT trace_id, count(*) AS spans, min(rowid) AS first
    FROM spans
    WHERE trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
    GROUP BY trace_id
);
