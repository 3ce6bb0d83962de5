CREATE TABLE scores (
    trace_id VARCHAR,
    scorer VARCHAR NOT NULL,
    expectation VARCHAR,
    value DOUBLE,
    reason VARCHAR NOT NULL,
    details JSON,
    scored_at TIMESTAMP NOT NULL
);
COMMENT ON TABLE scores IS 'What scorers said of trajectories; one row per trace, scorer and expectation.';
COMMENT ON COLUMN scores.expectation IS 'Name of the expectation it was held against.';
COMMENT ON COLUMN scores.value IS '0 to 1; NULL is not evaluable, and reason says why. It is not 0.';
COMMENT ON COLUMN scores.details IS 'The result of the scorer itself.';
