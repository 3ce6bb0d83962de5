-- The repairs of some traces. Parameters: trace_ids (NULL: of all).
SELECT kind, trace_id, span_id, detail
FROM repairs
WHERE $trace_ids::VARCHAR[] IS NULL OR trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
ORDER BY trace_id, span_id, kind, detail;
