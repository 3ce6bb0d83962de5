-- Forget the scores that judge the touched traces: of a trace itself, with a finding in one, or
-- over several traces (no trace_id), which the store cannot tell apart.
DELETE FROM scores
WHERE (SELECT count(*) FROM touched) > 0 AND (
    trace_id IS NULL
    OR trace_id IN (SELECT trace_id FROM touched)
    OR EXISTS (
        FROM findings
        WHERE findings.scored_trace_id = scores.trace_id
            AND findings.scorer = scores.scorer
            AND findings.expectation IS NOT DISTINCT FROM scores.expectation
            AND findings.trace_id IN (SELECT trace_id FROM touched)
    )
);
