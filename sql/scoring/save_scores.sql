-- Keep the scores. Parameters: scorers, versions (theirs).
INSERT INTO scores BY NAME
SELECT
    trace_id,
    scorer,
    expectation,
    value,
    reason,
    details,
    expectation_hash,
    ($versions::VARCHAR[])[list_position($scorers::VARCHAR[], scorer)] AS scorer_version,
    now() AT TIME ZONE 'UTC' AS scored_at
FROM scored
JOIN asked USING (e)
JOIN judged_traces USING (t)
WHERE scorer IN (SELECT unnest($scorers::VARCHAR[]));
