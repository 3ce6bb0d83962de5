-- What the scorers found, one row per scorer, expectation and trace.
CREATE TABLE scored (
    scorer VARCHAR,
    e INTEGER,
    t INTEGER,
    value DOUBLE,
    reason VARCHAR,
    details VARCHAR,
    findings STRUCT(
        rule VARCHAR,
        message VARCHAR,
        severity VARCHAR,
        verdict VARCHAR,
        trace_id VARCHAR,
        span_ids VARCHAR[],
        steps VARCHAR[]
    )[]
);
