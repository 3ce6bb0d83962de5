-- The traces, by id and number, that are held against an expectation. Parameter: e, its number.
SELECT trace_id, t FROM judged JOIN judged_traces USING (t) WHERE e = $e ORDER BY t;
