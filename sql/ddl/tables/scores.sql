CREATE TABLE scores (
    trace_id VARCHAR,
    session_id VARCHAR,
    scorer VARCHAR NOT NULL,
    expectation VARCHAR,
    value DOUBLE,
    reason VARCHAR NOT NULL,
    details JSON,
    expectation_hash VARCHAR,
    scorer_version VARCHAR,
    parameters JSON,
    error_type VARCHAR,
    scored_at TIMESTAMP NOT NULL
);
COMMENT ON TABLE scores IS 'What scorers said of trajectories; one row per trace, scorer and expectation.';
COMMENT ON COLUMN scores.session_id IS 'Of a score over all traces of a session, which has no trace id; else NULL.';
COMMENT ON COLUMN scores.expectation IS 'Name of the expectation it was held against.';
COMMENT ON COLUMN scores.value IS '0 to 1; NULL is not evaluable, and reason says why. It is not 0.';
COMMENT ON COLUMN scores.details IS 'The result of the scorer itself.';
COMMENT ON COLUMN scores.expectation_hash IS 'Hash of what the expectation said when the score was made.';
COMMENT ON COLUMN scores.scorer_version IS 'Version of the program that judged.';
COMMENT ON COLUMN scores.parameters IS 'What the scorer was set up with.';
COMMENT ON COLUMN scores.error_type IS 'What the scorer raised, when it is for that that there is no value.';
