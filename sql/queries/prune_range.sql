-- When the first and the last span of the touched traces started, nanoseconds since the epoch.
SELECT epoch_ns(min(start_time)), epoch_ns(max(start_time))
FROM spans
SEMI JOIN touched USING (trace_id);
