-- Forget the findings of the scores that are about to be written again. incoming: an Arrow table of
-- the scores.
DELETE FROM findings
WHERE EXISTS (
    FROM incoming
    WHERE incoming.scorer = findings.scorer
        AND incoming.trace_id IS NOT DISTINCT FROM findings.scored_trace_id
        AND incoming.session_id IS NOT DISTINCT FROM findings.scored_session_id
        AND incoming.expectation IS NOT DISTINCT FROM findings.expectation
);
