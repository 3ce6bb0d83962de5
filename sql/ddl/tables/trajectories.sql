CREATE TABLE trajectories (
    trace_id VARCHAR NOT NULL,
    session_id VARCHAR,
    start_time TIMESTAMP_NS,
    duration_ns BIGINT,
    root_span_ids VARCHAR[] NOT NULL,
    orphans VARCHAR[] NOT NULL,
    missing_parents VARCHAR[] NOT NULL,
    agents VARCHAR[] NOT NULL,
    span_count BIGINT NOT NULL,
    noise_span_count BIGINT NOT NULL,
    model_calls BIGINT,
    input_tokens BIGINT,
    output_tokens BIGINT,
    cached_input_tokens BIGINT,
    tokens_complete BOOLEAN NOT NULL,
    context_ids VARCHAR[] DEFAULT []
);
COMMENT ON TABLE trajectories IS 'One row per trace: what is known of its trajectory as a whole. Derived from spans; can be rebuilt.';
COMMENT ON COLUMN trajectories.session_id IS 'The conversation the trace belongs to.';
COMMENT ON COLUMN trajectories.start_time IS 'Start of the earliest span, UTC.';
COMMENT ON COLUMN trajectories.duration_ns IS 'Of the single root; NULL when there are several or its times are unknown.';
COMMENT ON COLUMN trajectories.root_span_ids IS 'Spans without a parent, or whose self-parent or cycle was broken.';
COMMENT ON COLUMN trajectories.orphans IS 'Spans whose parent is not in the trace.';
COMMENT ON COLUMN trajectories.missing_parents IS 'The ids of those parents.';
COMMENT ON COLUMN trajectories.agents IS 'Names of agents, in order of first appearance.';
COMMENT ON COLUMN trajectories.noise_span_count IS 'Spans that are no step.';
COMMENT ON COLUMN trajectories.model_calls IS 'Innermost model calls; NULL when agents ran and none is recorded.';
COMMENT ON COLUMN trajectories.input_tokens IS 'Over the innermost model calls, each once; NULL is unknown.';
COMMENT ON COLUMN trajectories.output_tokens IS 'See input_tokens.';
COMMENT ON COLUMN trajectories.cached_input_tokens IS 'The part of input_tokens that was read from a cache.';
COMMENT ON COLUMN trajectories.tokens_complete IS 'False when a model call did not record its tokens: the figures are lower bounds.';
COMMENT ON COLUMN trajectories.context_ids IS 'Later traces whose messages answer calls of this one, where they were looked for.';
