-- The spans of one part, numbered by (trace_id, start, span_id): a smaller number is earlier, so
-- everything below compares and joins whole numbers. trace_no is the number of the trace's first.
CREATE TEMP TABLE nodes (
    n BIGINT,
    trace_no BIGINT,
    row_no BIGINT,
    trace_id VARCHAR,
    span_id VARCHAR,
    parent_span_id VARCHAR,
    start_time TIMESTAMP_NS,
    end_time TIMESTAMP_NS,
    is_kept BOOLEAN,
    is_agent BOOLEAN,
    is_model_call BOOLEAN
);
