-- The numbers and ids of the traces that are to be scored, and which of them are odd.
SELECT t, trace_id, is_odd, has_steps FROM judged_traces ORDER BY t;
