CREATE TABLE repairs (
    trace_id VARCHAR NOT NULL,
    span_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    detail VARCHAR NOT NULL
);
COMMENT ON TABLE repairs IS 'What was assumed or changed to place a span.';
COMMENT ON COLUMN repairs.kind IS 'duplicate_merged, self_parent_broken, cycle_broken, orphan, negative_duration or clock_skew.';
COMMENT ON COLUMN repairs.detail IS 'For people.';
