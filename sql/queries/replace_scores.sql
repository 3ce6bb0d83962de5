-- Forget the scores that are about to be written again. incoming: an Arrow table of them.
DELETE FROM scores
WHERE EXISTS (
    FROM incoming
    WHERE incoming.scorer = scores.scorer
        AND incoming.trace_id IS NOT DISTINCT FROM scores.trace_id
        AND incoming.session_id IS NOT DISTINCT FROM scores.session_id
        AND incoming.expectation IS NOT DISTINCT FROM scores.expectation
);
