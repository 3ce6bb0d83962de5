-- Further traces that log records changed. Parameters: trace_ids.
INSERT INTO changed SELECT unnest($trace_ids::VARCHAR[]);
