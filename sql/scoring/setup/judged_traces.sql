-- The traces that are scored, numbered in the order of their first span. is_unwrapped: a single run
-- at the top is shown unwrapped, so the top-level steps are those below it (top_depth 1).
-- is_odd: what the set-wise statements would not get right; such a trace is left to the definition.
CREATE TABLE judged_traces (
    t INTEGER,
    trace_id VARCHAR,
    session_id VARCHAR,
    has_steps BOOLEAN,
    is_unwrapped BOOLEAN,
    top_depth INTEGER,
    root_span_ids VARCHAR[],
    duration_ns BIGINT,
    tokens BIGINT,
    tokens_complete BOOLEAN,
    is_odd BOOLEAN
);
