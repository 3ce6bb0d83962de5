CREATE TABLE steps (
    trace_id VARCHAR NOT NULL,
    span_id VARCHAR NOT NULL,
    step_id VARCHAR NOT NULL,
    parent_step_id VARCHAR,
    depth INTEGER NOT NULL,
    ord INTEGER NOT NULL,
    lft INTEGER NOT NULL,
    rgt INTEGER NOT NULL,
    step_type VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    label VARCHAR NOT NULL,
    agent VARCHAR,
    agent_span_id VARCHAR,
    args JSON USING COMPRESSION zstd,
    args_key VARCHAR,
    result JSON USING COMPRESSION zstd,
    success BOOLEAN,
    failed BOOLEAN,
    failure VARCHAR,
    executed BOOLEAN NOT NULL,
    from_messages BOOLEAN NOT NULL,
    tool_call_id VARCHAR,
    mcp_server VARCHAR,
    model VARCHAR,
    input_tokens BIGINT,
    output_tokens BIGINT,
    model_calls INTEGER,
    start_time TIMESTAMP_NS,
    end_time TIMESTAMP_NS,
    duration_ns BIGINT,
    session_id VARCHAR,
    fields JSON USING COMPRESSION zstd
);
COMMENT ON TABLE steps IS 'The typed steps of every trajectory, noise left out. Derived from spans; can be rebuilt.';
COMMENT ON COLUMN steps.span_id IS 'The span that proves the step; of a call that never ran, the model call that requested it.';
COMMENT ON COLUMN steps.step_id IS 'The span id, or span_id#call_id for a tool call without a span of its own.';
COMMENT ON COLUMN steps.parent_step_id IS 'The nearest ancestor that is a step; NULL at the top.';
COMMENT ON COLUMN steps.depth IS '0 at the top.';
COMMENT ON COLUMN steps.ord IS 'Rank in the trace by start, over all depths, from 0.';
COMMENT ON COLUMN steps.lft IS 'Nested-set bound: b is below or equal to a when b.lft BETWEEN a.lft AND a.rgt. Order by it to walk depth first.';
COMMENT ON COLUMN steps.rgt IS 'Nested-set bound, see lft.';
COMMENT ON COLUMN steps.step_type IS 'tool_call, mcp_tool_call, provider_tool_call, model_generation, agent_run, workflow_run, …';
COMMENT ON COLUMN steps.name IS 'The name the model or user calls it by.';
COMMENT ON COLUMN steps.label IS 'The name of the span.';
COMMENT ON COLUMN steps.agent IS 'Name of the nearest enclosing agent run.';
COMMENT ON COLUMN steps.agent_span_id IS 'Span of the nearest enclosing agent run.';
COMMENT ON COLUMN steps.args IS 'Arguments of a tool call; NULL is not recorded.';
COMMENT ON COLUMN steps.args_key IS 'Equal where arguments are equal as JSON values (key order is nothing, 1 is 1.0); NULL where they are not known.';
COMMENT ON COLUMN steps.success IS 'Of tool calls: false is known to have failed, NULL is unknown.';
COMMENT ON COLUMN steps.failed IS 'Of any step: true is known to have failed, NULL is unknown.';
COMMENT ON COLUMN steps.executed IS 'False for a tool call that a model requested and that never ran.';
COMMENT ON COLUMN steps.from_messages IS 'True for a tool call that has no span of its own.';
COMMENT ON COLUMN steps.input_tokens IS 'Of the model calls this step stands for; a sum over a trace counts each once.';
COMMENT ON COLUMN steps.output_tokens IS 'See input_tokens.';
COMMENT ON COLUMN steps.model_calls IS 'Calls of a model this step stands for.';
COMMENT ON COLUMN steps.duration_ns IS 'Nanoseconds; NULL when unknown or negative.';
COMMENT ON COLUMN steps.fields IS 'Further fields of the step type.';
