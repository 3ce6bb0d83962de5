-- No key: record_key is unique all the same, every ingest removes repeats before it commits.
CREATE TABLE log_records (
    trace_id VARCHAR,
    span_id VARCHAR,
    time TIMESTAMP_NS,
    event_name VARCHAR NOT NULL,
    severity VARCHAR NOT NULL,
    service_name VARCHAR,
    scope_name VARCHAR NOT NULL,
    body JSON USING COMPRESSION zstd,
    attributes JSON USING COMPRESSION zstd,
    resource_attributes JSON USING COMPRESSION zstd,
    beyond JSON,
    joined_trace_id VARCHAR,
    joined_span_id VARCHAR,
    role VARCHAR,
    standin_trace_id VARCHAR,
    standin_span_id VARCHAR,
    tool_call_id VARCHAR,
    session_id VARCHAR,
    standin JSON USING COMPRESSION zstd,
    reading JSON USING COMPRESSION zstd,
    record_key VARCHAR NOT NULL,
    capture_no INTEGER NOT NULL
);
COMMENT ON TABLE log_records IS 'Every log record, as it was sent, whether its span is here yet or not. Spans are read with their records as events.';
COMMENT ON COLUMN log_records.trace_id IS 'The trace the record names; NULL when it names none. It may be of a trace that is not there.';
COMMENT ON COLUMN log_records.span_id IS 'The span the record names; NULL when it names none. It may name a span that is not there.';
COMMENT ON COLUMN log_records.time IS 'When it happened, UTC, to the nanosecond; NULL is unknown.';
COMMENT ON COLUMN log_records.event_name IS 'The name of the event, as the record has it; many programs put it into attributes (event.name) instead.';
COMMENT ON COLUMN log_records.severity IS 'The text of the severity.';
COMMENT ON COLUMN log_records.service_name IS 'service.name of the resource.';
COMMENT ON COLUMN log_records.scope_name IS 'The instrumentation that wrote it.';
COMMENT ON COLUMN log_records.body IS 'The body: text, object or any other value; NULL for none.';
COMMENT ON COLUMN log_records.attributes IS 'Attributes of the record, types kept: attributes->>''$."event.name"''.';
COMMENT ON COLUMN log_records.resource_attributes IS 'Attributes of the resource, types kept.';
COMMENT ON COLUMN log_records.beyond IS 'The exact time if no TIMESTAMP_NS can hold it; nearly always NULL.';
COMMENT ON COLUMN log_records.joined_trace_id IS 'Trace of the span the record belongs to, see role; NULL while it belongs to none.';
COMMENT ON COLUMN log_records.joined_span_id IS 'The span the record belongs to, see role; it may come later.';
COMMENT ON COLUMN log_records.role IS 'event: an event of the joined span; span: the joined span was made of the record, or of a fuller one of the same call, since no span records it; NULL: neither.';
COMMENT ON COLUMN log_records.standin_trace_id IS 'The trace of the span that a record of a call would become; NULL for all other records, as in the columns down to reading.';
COMMENT ON COLUMN log_records.standin_span_id IS 'The id of that span.';
COMMENT ON COLUMN log_records.tool_call_id IS 'The tool call it tells of.';
COMMENT ON COLUMN log_records.session_id IS 'The conversation it belongs to.';
COMMENT ON COLUMN log_records.standin IS 'That span, as JSON.';
COMMENT ON COLUMN log_records.reading IS 'All that the convention understood of that span, as JSON; without a span, what the record told as an event before it lost attributes.';
COMMENT ON COLUMN log_records.record_key IS 'Hash of what was sent; equal for one record however often it comes.';
COMMENT ON COLUMN log_records.capture_no IS 'The capture that brought the record (captures.capture_no).';
