-- Findings with their first witness span (without one: the root) and the version of their scorer.
-- Parameters: trace_ids (NULL: the findings about no trace).
SELECT
    f.scored_trace_id, f.scorer, f.expectation, f.trace_id, f.rule, f.severity, f.verdict, f.message,
    f.span_ids, f.steps, f.fingerprint, f.policy_hash, f.rule_hash,
    f.scored_session_id,
    s.expectation_hash,
    s.scorer_version,
    coalesce(f.span_ids[1], t.root_span_ids[1], t.orphans[1]) AS span_id,
    epoch_ns(f.found_at) AS found_ns
FROM findings f
LEFT JOIN scores s
    ON s.scorer = f.scorer
    AND s.trace_id IS NOT DISTINCT FROM f.scored_trace_id
    AND s.session_id IS NOT DISTINCT FROM f.scored_session_id
    AND s.expectation IS NOT DISTINCT FROM f.expectation
LEFT JOIN trajectories t ON t.trace_id = f.trace_id
WHERE CASE
    WHEN $trace_ids::VARCHAR[] IS NULL THEN f.trace_id IS NULL
    ELSE f.trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
END
ORDER BY t.start_time NULLS LAST, f.trace_id, f.rowid;
