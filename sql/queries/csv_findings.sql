-- Findings about some traces, or about all, one row each, lists as JSON. Parameters: trace_ids.
SELECT trace_id, rule, severity, verdict, message, to_json(span_ids)::VARCHAR AS span_ids,
    to_json(steps)::VARCHAR AS steps, scorer, expectation, scored_trace_id, found_at
FROM findings
WHERE $trace_ids::VARCHAR[] IS NULL OR trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
ORDER BY trace_id NULLS FIRST, rule, message, span_ids;
