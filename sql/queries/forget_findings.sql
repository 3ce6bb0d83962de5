-- Forget the findings about the touched traces, and those of scores that are gone.
DELETE FROM findings
WHERE trace_id IN (SELECT trace_id FROM touched)
    OR scorer IS NOT NULL AND NOT EXISTS (
        FROM scores
        WHERE scores.trace_id IS NOT DISTINCT FROM findings.scored_trace_id
            AND scores.session_id IS NOT DISTINCT FROM findings.scored_session_id
            AND scores.scorer = findings.scorer
            AND scores.expectation IS NOT DISTINCT FROM findings.expectation
    );
