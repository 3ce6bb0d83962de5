-- No PRIMARY KEY: the index of DuckDB would live in memory and make ingest several times slower.
-- (trace_id, span_id) is unique all the same: every ingest removes repeats before it commits.
-- zstd: JSON of one capture is very alike; a third of the time and a seventh of the space of the
-- compression DuckDB would choose.
CREATE TABLE spans (
    trace_id VARCHAR NOT NULL,
    span_id VARCHAR NOT NULL,
    parent_span_id VARCHAR,
    name VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    start_time TIMESTAMP_NS,
    end_time TIMESTAMP_NS,
    duration_ns BIGINT,
    status_code VARCHAR NOT NULL,
    status_message VARCHAR NOT NULL,
    trace_state VARCHAR NOT NULL,
    service_name VARCHAR,
    scope_name VARCHAR NOT NULL,
    scope_version VARCHAR NOT NULL,
    resource_attributes JSON USING COMPRESSION zstd,
    attributes JSON USING COMPRESSION zstd,
    events JSON USING COMPRESSION zstd,
    links JSON USING COMPRESSION zstd,
    detail_count INTEGER NOT NULL,
    beyond JSON,
    convention VARCHAR,
    claim INTEGER,
    step_type VARCHAR,
    step_name VARCHAR,
    is_model_call BOOLEAN,
    args JSON USING COMPRESSION zstd,
    args_key VARCHAR,
    args_value JSON USING COMPRESSION zstd,
    result JSON USING COMPRESSION zstd,
    failed BOOLEAN,
    failure VARCHAR,
    tool_call_id VARCHAR,
    mcp_server VARCHAR,
    is_mcp BOOLEAN,
    agent_name VARCHAR,
    session_id VARCHAR,
    model VARCHAR,
    provider VARCHAR,
    input_tokens BIGINT,
    output_tokens BIGINT,
    cached_input_tokens BIGINT,
    response_id VARCHAR,
    requested STRUCT(call_id VARCHAR, tool VARCHAR, arg_count INTEGER)[],
    answered VARCHAR[],
    answered_failed VARCHAR[],
    fields JSON USING COMPRESSION zstd,
    needs_assembly BOOLEAN,
    reading JSON USING COMPRESSION zstd,
    own_reading JSON USING COMPRESSION zstd,
    capture_no INTEGER NOT NULL
);
COMMENT ON TABLE spans IS 'Every recorded operation, exactly as it was sent, beside what its convention understood of it. (trace_id, span_id) is unique.';
COMMENT ON COLUMN spans.parent_span_id IS 'NULL when the record names no parent; it may also name a span that is not there.';
COMMENT ON COLUMN spans.kind IS 'UNSPECIFIED, INTERNAL, SERVER, CLIENT, PRODUCER or CONSUMER.';
COMMENT ON COLUMN spans.start_time IS 'Start, UTC, to the nanosecond; NULL is unknown.';
COMMENT ON COLUMN spans.end_time IS 'End, UTC, to the nanosecond; NULL when the span has not ended.';
COMMENT ON COLUMN spans.duration_ns IS 'End minus start in nanoseconds; NULL when unknown or negative.';
COMMENT ON COLUMN spans.status_code IS 'UNSET, OK or ERROR.';
COMMENT ON COLUMN spans.service_name IS 'service.name of the resource.';
COMMENT ON COLUMN spans.resource_attributes IS 'Attributes of the resource, types kept.';
COMMENT ON COLUMN spans.attributes IS 'Attributes of the span, types kept: attributes->>''$."gen_ai.tool.name"''.';
COMMENT ON COLUMN spans.events IS 'List of {name, time_ns, attributes}, as sent; log records that became events stand in log_records.';
COMMENT ON COLUMN spans.links IS 'List of {trace_id, span_id, attributes}.';
COMMENT ON COLUMN spans.detail_count IS 'Attributes and events, counted: of two versions of a span the fuller is kept.';
COMMENT ON COLUMN spans.beyond IS 'Exact values of times that no TIMESTAMP_NS can hold; nearly always NULL.';
COMMENT ON COLUMN spans.convention IS 'The convention that read the span; NULL when none understands it.';
COMMENT ON COLUMN spans.claim IS 'How specifically the convention understands the span.';
COMMENT ON COLUMN spans.step_type IS 'The type of step the span is; NULL is noise.';
COMMENT ON COLUMN spans.step_name IS 'The name the model or user calls it by.';
COMMENT ON COLUMN spans.is_model_call IS 'The span records one call of a model; only the innermost of a nest is counted.';
COMMENT ON COLUMN spans.args IS 'Arguments of a tool call; NULL is not recorded, the JSON null a recorded null.';
COMMENT ON COLUMN spans.args_key IS 'Equal where arguments are equal as JSON values (key order is nothing, 1 is 1.0): the short text of the value, else a hash of it.';
COMMENT ON COLUMN spans.args_value IS 'The bare value of a lone argument whose name was not recorded here.';
COMMENT ON COLUMN spans.result IS 'Result of a tool call.';
COMMENT ON COLUMN spans.failed IS 'What this span alone says of its failure; NULL is no evidence.';
COMMENT ON COLUMN spans.failure IS 'The error text.';
COMMENT ON COLUMN spans.input_tokens IS 'Tokens the span carries, its own or a repeated sum; sums belong to steps.';
COMMENT ON COLUMN spans.response_id IS 'Id of the model''s response; two spans with one id record one call.';
COMMENT ON COLUMN spans.requested IS 'Tool calls in the output of the model, in order.';
COMMENT ON COLUMN spans.answered IS 'Tool calls whose results stand in the input of the model: their ids, and name:<tool> where the name is known.';
COMMENT ON COLUMN spans.answered_failed IS 'Those of answered whose result says that the call failed.';
COMMENT ON COLUMN spans.fields IS 'Further fields of the step type.';
COMMENT ON COLUMN spans.needs_assembly IS 'The reading says something that only Python makes use of; see derive_unresolved.sql.';
COMMENT ON COLUMN spans.reading IS 'All that the convention understood, as JSON.';
COMMENT ON COLUMN spans.own_reading IS 'What the span says without its log records, as JSON, where they add to it; else NULL.';
COMMENT ON COLUMN spans.capture_no IS 'The capture that brought the span (captures.capture_no).';
