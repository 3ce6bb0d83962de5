-- Keep the findings of the scores. Parameters: scorers.
INSERT INTO findings BY NAME
SELECT
    found.trace_id,
    judged_traces.trace_id AS scored_trace_id,
    scorer,
    expectation,
    found.rule,
    found.severity,
    found.verdict,
    found.message,
    found.span_ids,
    found.steps,
    now() AT TIME ZONE 'UTC' AS found_at
FROM (SELECT e, t, scorer, unnest(findings) AS found FROM scored WHERE len(findings) > 0)
JOIN asked USING (e)
JOIN judged_traces USING (t)
WHERE scorer IN (SELECT unnest($scorers::VARCHAR[]));
