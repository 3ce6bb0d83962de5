-- Which traces, by number and id, are held against which expectation.
SELECT e, t, trace_id FROM judged JOIN judged_traces USING (t) ORDER BY e, t;
