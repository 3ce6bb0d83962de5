-- The traces that log records changed.
CREATE TEMP TABLE changed (trace_id VARCHAR);
