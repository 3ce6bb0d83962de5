-- The findings about some traces. Parameters: trace_ids (NULL: about all).
SELECT scored_trace_id, scorer, expectation, trace_id, rule, severity, verdict, message, span_ids, steps,
    fingerprint, policy_hash, rule_hash, scored_session_id
FROM findings
WHERE $trace_ids::VARCHAR[] IS NULL OR list_contains($trace_ids::VARCHAR[], trace_id)
    OR list_contains($trace_ids::VARCHAR[], scored_trace_id)
ORDER BY rowid;
