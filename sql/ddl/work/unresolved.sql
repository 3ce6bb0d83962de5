-- The traces of the part in which a RESOLVE rule has something to do, and why.
CREATE TEMP TABLE unresolved (trace_id VARCHAR, reason VARCHAR);
