-- Forget what the same rules found in the same traces before. incoming: an Arrow table of findings.
DELETE FROM findings
WHERE scorer IS NULL AND EXISTS (
    FROM incoming
    WHERE incoming.rule = findings.rule
        AND incoming.trace_id IS NOT DISTINCT FROM findings.trace_id
);
