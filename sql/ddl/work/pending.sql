-- The log records of calls whose place is looked for again, in groups that do not meet. trace_id: the
-- one the record names, if any.
CREATE TEMP TABLE pending (
    row_no BIGINT,
    standin_trace_id VARCHAR,
    standin_span_id VARCHAR,
    tool_call_id VARCHAR,
    trace_id VARCHAR,
    part BIGINT
);
