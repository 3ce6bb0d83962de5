-- Where every step of the part sits. agent: number of the nearest enclosing agent run.
CREATE TEMP TABLE places (
    n BIGINT,
    trace_no BIGINT,
    up BIGINT,
    depth BIGINT,
    ord BIGINT,
    lft BIGINT,
    rgt BIGINT,
    agent BIGINT
);
