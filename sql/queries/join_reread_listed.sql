-- Further spans that gained or lost log records. incoming: trace and span.
INSERT INTO reread SELECT trace_id, span_id FROM incoming;
