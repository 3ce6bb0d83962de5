CREATE TABLE findings (
    trace_id VARCHAR,
    scored_trace_id VARCHAR,
    scored_session_id VARCHAR,
    scorer VARCHAR,
    expectation VARCHAR,
    rule VARCHAR NOT NULL,
    severity VARCHAR NOT NULL,
    verdict VARCHAR NOT NULL,
    message VARCHAR NOT NULL,
    span_ids VARCHAR[] NOT NULL,
    steps VARCHAR[] NOT NULL,
    found_at TIMESTAMP NOT NULL,
    fingerprint VARCHAR,
    policy_hash VARCHAR,
    rule_hash VARCHAR
);
COMMENT ON TABLE findings IS 'Located claims about traces, with the spans that prove them.';
COMMENT ON COLUMN findings.scored_trace_id IS 'The trace of the score it belongs to (scores.trace_id); a score of a session has witnesses in several.';
COMMENT ON COLUMN findings.scored_session_id IS 'The session of the score it belongs to (scores.session_id).';
COMMENT ON COLUMN findings.scorer IS 'The scorer that made it; NULL for an audit rule.';
COMMENT ON COLUMN findings.severity IS 'info, warning or error.';
COMMENT ON COLUMN findings.verdict IS 'violated, satisfied, vacuous or unknown.';
COMMENT ON COLUMN findings.span_ids IS 'Witness spans, in order.';
COMMENT ON COLUMN findings.steps IS 'Names of the witness steps, in order.';
COMMENT ON COLUMN findings.fingerprint IS 'Equal for the same claim whenever it is made again; span ids have no part in it.';
COMMENT ON COLUMN findings.policy_hash IS 'SHA-256 of the policy file; NULL for a scorer.';
COMMENT ON COLUMN findings.rule_hash IS 'Hash of what the rule said; NULL for a scorer.';
