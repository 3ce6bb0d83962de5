CREATE VIEW observations AS
SELECT
    spans.span_id AS id,
    spans.trace_id,
    spans.parent_span_id AS parent_observation_id,
    CASE
        WHEN spans.step_type = 'model_generation' THEN 'GENERATION'
        WHEN spans.step_type LIKE '%tool_call' THEN 'TOOL'
        WHEN spans.step_type = 'agent_run' THEN 'AGENT'
        WHEN spans.step_type LIKE 'workflow%' THEN 'CHAIN'
        WHEN spans.step_type = 'retrieval' THEN 'RETRIEVER'
        WHEN spans.step_type = 'embedding' THEN 'EMBEDDING'
        WHEN spans.step_type = 'guardrail' THEN 'GUARDRAIL'
        ELSE 'SPAN'
    END AS type,
    spans.name,
    spans.start_time,
    spans.end_time,
    CASE WHEN spans.failed THEN 'ERROR' ELSE 'DEFAULT' END AS level,
    coalesce(spans.failure, nullif(spans.status_message, '')) AS status_message,
    spans.args AS input,
    spans.result AS output,
    spans.model AS provided_model_name,
    spans.input_tokens,
    spans.output_tokens,
    spans.session_id,
    spans.attributes AS metadata
FROM spans;
COMMENT ON VIEW observations IS 'spans under the column names of Langfuse observations.';
