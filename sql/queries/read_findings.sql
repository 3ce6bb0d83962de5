-- The findings about some traces. Parameters: trace_ids (NULL: about all).
SELECT trace_id, scorer, expectation, rule, severity, verdict, message, span_ids, steps
FROM findings
WHERE $trace_ids::VARCHAR[] IS NULL OR trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
ORDER BY rowid;
