-- Drop the scores in whose place new ones come. Parameters: scorers.
DELETE FROM scores
USING scored
JOIN asked USING (e)
JOIN judged_traces USING (t)
WHERE scores.scorer IN (SELECT unnest($scorers::VARCHAR[]))
    AND scores.scorer = scored.scorer
    AND scores.trace_id = judged_traces.trace_id
    AND scores.expectation IS NOT DISTINCT FROM asked.expectation;
