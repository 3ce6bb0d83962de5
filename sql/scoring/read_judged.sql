-- The traces that are held against one expectation, by number and id. Parameters: e.
SELECT t, trace_id FROM judged JOIN judged_traces USING (t) WHERE e = $e ORDER BY t;
