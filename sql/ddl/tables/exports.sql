CREATE TABLE exports (
    target VARCHAR NOT NULL,
    key_hash VARCHAR NOT NULL,
    exported_at TIMESTAMP NOT NULL,
    PRIMARY KEY (target, key_hash)
);
COMMENT ON TABLE exports IS 'Scores and findings that a backend has confirmed; what stands here is not sent again.';
COMMENT ON COLUMN exports.target IS 'Name of the backend: its address without credentials, unless the user named it.';
COMMENT ON COLUMN exports.key_hash IS 'Hash of all that was said of one span by one scorer or rule.';
COMMENT ON COLUMN exports.exported_at IS 'When the backend confirmed it, UTC.';
