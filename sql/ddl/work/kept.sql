-- The steps of the part: up is the nearest ancestor that is a step.
CREATE TEMP TABLE kept (n BIGINT, trace_no BIGINT, up BIGINT, is_agent BOOLEAN);
