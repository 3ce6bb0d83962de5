-- The rows of the spans that are to be read again.
SELECT rowid AS row_no FROM spans SEMI JOIN reread USING (trace_id, span_id) ORDER BY rowid;
