-- What the expectations ask for, one row each; e numbers them. A limit is NULL where there is none,
-- …_text is the limit as messages write it. scope: NULL or as the user wrote it.
CREATE TABLE asked (
    e INTEGER,
    expectation VARCHAR,
    expectation_hash VARCHAR,
    scope VARCHAR,
    asks_efficiency BOOLEAN,
    asks_blacklist BOOLEAN,
    asks_comparison BOOLEAN,
    max_steps DOUBLE,
    max_steps_text VARCHAR,
    max_total_tokens DOUBLE,
    max_total_tokens_text VARCHAR,
    max_total_duration_ms DOUBLE,
    max_total_duration_ms_text VARCHAR,
    no_redundant_calls BOOLEAN,
    max_retries DOUBLE,
    max_retries_text VARCHAR
);
