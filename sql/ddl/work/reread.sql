-- The spans that gained or lost log records, to be read again.
CREATE TEMP TABLE reread (trace_id VARCHAR, span_id VARCHAR);
