-- The scores of some traces. Parameters: trace_ids (NULL: of all).
SELECT
    trace_id, scorer, expectation, value, reason, details, expectation_hash, scorer_version, parameters,
    error_type, session_id
FROM scores
WHERE $trace_ids::VARCHAR[] IS NULL OR trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
ORDER BY ALL;
