-- Where every span of the part hangs after repair: up is the number of its parent, NULL at the top.
CREATE TEMP TABLE edges (
    n BIGINT,
    trace_no BIGINT,
    up BIGINT,
    is_kept BOOLEAN,
    names_itself BOOLEAN,
    is_orphan BOOLEAN
);
