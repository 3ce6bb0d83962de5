CREATE TABLE schema_info (
    version INTEGER NOT NULL,
    created_by VARCHAR NOT NULL,
    created_at TIMESTAMP NOT NULL
);
COMMENT ON TABLE schema_info IS 'One row: the version of this schema and the trajscope that made the store.';
