-- Scores in the order of traces, expectations and scorers.
-- Parameters: scorers (those that were asked for, in order), versions (theirs), everything (perfect
-- ones too).
WITH shown AS (
    SELECT *, list_position($scorers::VARCHAR[], scorer) AS place
    FROM scored
    WHERE scorer IN (SELECT unnest($scorers::VARCHAR[]))
)
SELECT
    scorer, value, reason, trace_id, expectation, details, findings, expectation_hash,
    ($versions::VARCHAR[])[place] AS scorer_version
FROM shown
JOIN asked USING (e)
JOIN judged_traces USING (t)
WHERE $everything OR (e, t) IN (
    SELECT (e, t) FROM shown WHERE value IS DISTINCT FROM 1 OR len(findings) > 0
)
ORDER BY t, e, place;
