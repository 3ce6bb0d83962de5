CREATE VIEW otel_traces AS
SELECT
    start_time AS "Timestamp",
    trace_id AS "TraceId",
    span_id AS "SpanId",
    coalesce(parent_span_id, '') AS "ParentSpanId",
    trace_state AS "TraceState",
    name AS "SpanName",
    kind AS "SpanKind",
    coalesce(service_name, '') AS "ServiceName",
    resource_attributes AS "ResourceAttributes",
    scope_name AS "ScopeName",
    scope_version AS "ScopeVersion",
    attributes AS "SpanAttributes",
    duration_ns AS "Duration",
    status_code AS "StatusCode",
    status_message AS "StatusMessage",
    events AS "Events",
    links AS "Links"
FROM spans;
COMMENT ON VIEW otel_traces IS 'spans under the column names of the ClickHouse exporter of the OpenTelemetry Collector. Attributes are JSON here and keep their types.';
