-- How many traces tell no time at all.
SELECT count(*)
FROM (
    SELECT trace_id FROM spans GROUP BY trace_id
    HAVING max(coalesce(start_time, end_time)) IS NULL
);
