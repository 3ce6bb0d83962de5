-- Scores of some traces, or of all, one row each, JSON as text. Parameters: trace_ids.
SELECT trace_id, session_id, scorer, expectation, value, reason, error_type,
    details::VARCHAR AS details, parameters::VARCHAR AS parameters, expectation_hash, scorer_version, scored_at
FROM scores
WHERE $trace_ids::VARCHAR[] IS NULL OR trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
ORDER BY trace_id NULLS FIRST, session_id NULLS FIRST, scorer, expectation NULLS FIRST;
