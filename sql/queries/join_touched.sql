-- The traces that are about to go, as what may change the place of log records.
INSERT INTO changed SELECT trace_id FROM touched;
