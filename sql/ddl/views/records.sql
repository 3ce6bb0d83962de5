CREATE VIEW records AS
SELECT
    trace_id,
    span_id,
    parent_span_id,
    'span' AS kind,
    name AS span_name,
    name AS message,
    start_time AS start_timestamp,
    end_time AS end_timestamp,
    duration_ns / 1e9 AS duration,
    contains(events, '"name":"exception"') AS is_exception,
    status_code AS otel_status_code,
    status_message AS otel_status_message,
    service_name,
    scope_name AS otel_scope_name,
    scope_version AS otel_scope_version,
    attributes,
    resource_attributes AS otel_resource_attributes,
    events AS otel_events,
    links AS otel_links
FROM spans;
COMMENT ON VIEW records IS 'spans under the column names of Logfire records.';
