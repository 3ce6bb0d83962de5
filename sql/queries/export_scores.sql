-- Scores with the span they judge (the first root, else the first orphan) and when they were made.
-- Parameters: trace_ids (NULL: the scores over several traces, which have no trace id).
SELECT
    s.trace_id, s.scorer, s.expectation, s.value, s.reason, NULL AS details, s.expectation_hash,
    s.scorer_version, s.parameters, s.error_type, s.session_id,
    coalesce(t.root_span_ids[1], t.orphans[1]) AS span_id,
    epoch_ns(s.scored_at) AS scored_ns
FROM scores s
LEFT JOIN trajectories t ON t.trace_id = s.trace_id
WHERE CASE
    WHEN $trace_ids::VARCHAR[] IS NULL THEN s.trace_id IS NULL
    ELSE s.trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
END
ORDER BY t.start_time NULLS LAST, s.trace_id, s.scorer, s.expectation NULLS FIRST;
