CREATE VIEW tokens_by_model AS
SELECT
    model,
    sum(model_calls)::BIGINT AS model_calls,
    sum(input_tokens)::BIGINT AS input_tokens,
    sum(output_tokens)::BIGINT AS output_tokens,
    (sum(input_tokens) + sum(output_tokens))::BIGINT AS total_tokens,
    count(*) FILTER (input_tokens IS NULL) AS generations_without_tokens
FROM steps
WHERE step_type = 'model_generation'
GROUP BY model;
COMMENT ON VIEW tokens_by_model IS 'Tokens of every model over the whole store, each call once.';
COMMENT ON COLUMN tokens_by_model.generations_without_tokens IS 'Where this is not 0 the sums are lower bounds.';
