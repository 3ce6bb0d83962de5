-- Which traces, by number and id, are held against which expectation.
-- Parameters: first, last (numbers of traces).
SELECT e, t, trace_id
FROM judged
JOIN judged_traces USING (t)
WHERE t BETWEEN $first AND $last
ORDER BY e, t;
