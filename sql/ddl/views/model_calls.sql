CREATE VIEW model_calls AS
SELECT
    trace_id,
    span_id,
    ord,
    model,
    model_calls,
    input_tokens,
    output_tokens,
    input_tokens + output_tokens AS total_tokens,
    fields->>'finish_reason' AS finish_reason,
    failed,
    failure,
    agent,
    start_time,
    ns_to_ms(duration_ns) AS duration_ms,
    session_id
FROM steps
WHERE step_type = 'model_generation';
COMMENT ON VIEW model_calls IS 'Generations, each with the calls of a model it stands for and their tokens.';
COMMENT ON COLUMN model_calls.model_calls IS 'Innermost calls of a model inside this generation.';
