CREATE TABLE captures (
    capture_no INTEGER NOT NULL,
    capture_id VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    format VARCHAR NOT NULL,
    ingested_at TIMESTAMP NOT NULL,
    span_count BIGINT NOT NULL,
    added_count BIGINT NOT NULL,
    duplicate_count BIGINT NOT NULL,
    skipped JSON NOT NULL,
    problem_count BIGINT NOT NULL,
    problems JSON NOT NULL,
    dropped_attributes VARCHAR[] DEFAULT [],
    log_count BIGINT NOT NULL DEFAULT 0
);
COMMENT ON TABLE captures IS 'The input files and streams that were ingested, each content once.';
COMMENT ON COLUMN captures.capture_no IS 'Number of the capture in this store; spans.capture_no points here.';
COMMENT ON COLUMN captures.capture_id IS 'Hash of the content.';
COMMENT ON COLUMN captures.name IS 'The path as the user gave it, or "-".';
COMMENT ON COLUMN captures.format IS 'How the capture is encoded.';
COMMENT ON COLUMN captures.ingested_at IS 'When it was first ingested, UTC.';
COMMENT ON COLUMN captures.span_count IS 'Spans read from it, repeats included.';
COMMENT ON COLUMN captures.added_count IS 'Spans it brought that the store did not hold.';
COMMENT ON COLUMN captures.duplicate_count IS 'Span records that were repeats of a span in it or in the store.';
COMMENT ON COLUMN captures.skipped IS 'Records that are neither spans nor log records, counted by kind.';
COMMENT ON COLUMN captures.problem_count IS 'What could not be read, counted.';
COMMENT ON COLUMN captures.problems IS 'The first of what could not be read: message, path, line, record, hint.';
COMMENT ON COLUMN captures.dropped_attributes IS 'Patterns of attributes that were left out of the stored spans (ingest --drop-attributes).';
COMMENT ON COLUMN captures.log_count IS 'Log records read from it, repeats included.';
