-- The names of the calls that were only requested, in walking order.
-- Parameters: first, last (numbers of traces).
SELECT step.t, list(recorded.name ORDER BY step.lft)
FROM judged_steps step
JOIN steps recorded ON recorded.rowid = row_no
WHERE NOT step.executed AND step.t BETWEEN $first AND $last
GROUP BY step.t;
