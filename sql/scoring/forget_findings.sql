-- Drop the findings of the scores in whose place new ones come. Parameters: scorers.
DELETE FROM findings
USING scored
JOIN asked USING (e)
JOIN judged_traces USING (t)
WHERE findings.scorer IN (SELECT unnest($scorers::VARCHAR[]))
    AND findings.scorer = scored.scorer
    AND findings.scored_trace_id = judged_traces.trace_id
    AND findings.expectation IS NOT DISTINCT FROM asked.expectation;
