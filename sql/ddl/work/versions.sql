-- Every record of a span that is in the store more than once, while an ingest is under way.
CREATE TEMP TABLE versions (
    row_no BIGINT,
    trace_id VARCHAR,
    span_id VARCHAR,
    capture_no INTEGER,
    ended BOOLEAN,
    end_time TIMESTAMP_NS,
    detail_count INTEGER,
    is_beyond BOOLEAN,
    content UBIGINT
);
