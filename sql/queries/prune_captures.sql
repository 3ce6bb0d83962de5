-- The captures that brought a span of a touched trace.
SELECT DISTINCT capture_no FROM spans SEMI JOIN touched USING (trace_id) ORDER BY capture_no;
