-- The captures that brought a span of a touched trace, or log records.
SELECT capture_no FROM spans SEMI JOIN touched USING (trace_id)
UNION
SELECT capture_no FROM log_records
ORDER BY capture_no;
