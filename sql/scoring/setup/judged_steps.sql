-- The steps of the scored traces in whole numbers. row_no: rowid of the step in `steps`, for all
-- that is only needed of a few. run: key of the agent run it belongs to, '' outside of all.
CREATE TEMP TABLE judged_steps (
    t INTEGER,
    row_no BIGINT,
    name_no INTEGER,
    tool_no INTEGER,
    is_tool BOOLEAN,
    executed BOOLEAN,
    success BOOLEAN,
    depth INTEGER,
    lft INTEGER,
    ord INTEGER,
    run VARCHAR,
    args_key VARCHAR,
    start_time TIMESTAMP_NS,
    end_time TIMESTAMP_NS
);
