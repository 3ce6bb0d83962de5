-- The traces whose last span started before a time. A span of unknown start counts by its end; a
-- trace that tells no time at all is not known to be old and stays. Parameters: before_ns.
INSERT INTO touched
SELECT trace_id, 0
FROM spans
GROUP BY trace_id
HAVING max(coalesce(start_time, end_time)) < make_timestamp_ns($before_ns::BIGINT);
