-- Which traces must pass through Python: those in which a rule of `assemble.RESOLVE`, or its count
-- of tokens, may have something to do. Each reason may name a trace too many, never one too few; a
-- property test holds the steps of all other traces equal to what `assemble` makes of them.
INSERT INTO unresolved
WITH
part_spans AS MATERIALIZED (
    SELECT
        nodes.n,
        nodes.trace_no,
        nodes.start_time,
        nodes.is_model_call,
        scope_name,
        step_type,
        step_type IN ('tool_call', 'mcp_tool_call', 'provider_tool_call') AS is_tool,
        step_name,
        agent_name,
        session_id,
        tool_call_id,
        response_id,
        requested,
        input_tokens IS NOT NULL AS has_input,
        output_tokens IS NOT NULL AS has_output,
        args IS NOT NULL AS has_args,
        result IS NOT NULL AS has_result,
        failed,
        is_mcp,
        mcp_server IS NOT NULL AS has_server,
        needs_assembly,
        beyond IS NOT NULL AS is_beyond
    FROM nodes
    JOIN spans ON spans.rowid = nodes.row_no
    WHERE convention IS NOT NULL OR beyond IS NOT NULL
),
tools AS (SELECT * FROM part_spans WHERE is_tool),
calls AS (SELECT * FROM part_spans WHERE is_model_call),
runs AS (SELECT * FROM part_spans WHERE step_type IN ('agent_run', 'workflow_run')),
requests AS (
    SELECT trace_no, request.call_id, request.tool, request.arg_count
    FROM (SELECT trace_no, unnest(requested) AS request FROM calls)
),
nests AS (
    -- Ordered by lft, a step lies below an earlier one when that one's right bound is beyond it.
    SELECT
        trace_no,
        is_model_call AND max(rgt) FILTER (is_model_call) OVER earlier > lft AS call_in_call,
        is_tool AND max(rgt) FILTER (is_tool) OVER earlier > lft AS tool_in_tool
    FROM (
        SELECT
            places.trace_no,
            places.lft,
            places.rgt,
            part_spans.is_model_call,
            coalesce(is_tool, false) AS is_tool
        FROM places
        JOIN part_spans USING (n)
        WHERE part_spans.is_model_call OR is_tool
    )
    WINDOW earlier AS (
        PARTITION BY trace_no ORDER BY lft ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
),
found AS (
    SELECT trace_no, 'a time no column can hold' AS reason
    FROM part_spans WHERE is_beyond
    UNION ALL
    -- fold_tools
    SELECT trace_no, 'a tool call below a tool call' FROM nests WHERE tool_in_tool
    UNION ALL
    -- fold_model_calls, and counting only the innermost
    SELECT trace_no, 'a model call below a model call' FROM nests WHERE call_in_call
    UNION ALL
    -- the same where a noise span is a model call: it belongs to some step above
    SELECT trace_no, 'a model call that is no generation'
    FROM part_spans
    WHERE is_model_call <> coalesce(step_type = 'model_generation', false)
    UNION ALL
    -- drop_repeated_responses
    SELECT trace_no, 'one response recorded twice'
    FROM calls
    WHERE response_id IS NOT NULL
    GROUP BY trace_no, response_id
    HAVING count(*) > 1
    UNION ALL
    -- drop_calls_within_calls
    SELECT trace_no, 'model calls by two libraries'
    FROM calls
    GROUP BY trace_no
    HAVING count(DISTINCT scope_name) > 1
    UNION ALL
    -- drop_repeated_calls
    SELECT trace_no, 'one tool call recorded twice'
    FROM tools
    WHERE tool_call_id IS NOT NULL
    GROUP BY trace_no, tool_call_id
    HAVING count(*) > 1
    UNION ALL
    -- lift_parts, open_agents, confirm_workflows; half a count of tokens; and whatever readings
    -- learn to say later
    SELECT trace_no, 'a reading that only assembly understands'
    FROM part_spans WHERE needs_assembly
    UNION ALL
    -- fold_runs, fold_wrappers: a run directly inside a run or a runner of the same name
    SELECT places.trace_no, 'a run inside a run of the same name'
    FROM places
    JOIN runs inside ON inside.n = places.n AND inside.trace_no = places.trace_no
    -- Also by trace: joined by name first, runs of one agent would meet those of all other traces.
    JOIN runs outside ON outside.n = places.up AND outside.trace_no = inside.trace_no
    WHERE (inside.step_type = outside.step_type OR outside.step_type = 'workflow_run')
        AND inside.step_name IS NOT DISTINCT FROM outside.step_name
    UNION ALL
    -- fold_runs: an empty run beside a run of the same name
    SELECT trace_no, 'an empty run beside a run of the same name'
    FROM runs
    GROUP BY trace_no, step_type, step_name
    HAVING count(*) > 1 AND bool_or(n NOT IN (SELECT up FROM edges WHERE up IS NOT NULL))
    UNION ALL
    -- borrow_agents: a step outside all agent runs, near a span that names an agent
    SELECT places.trace_no, 'a step that may belong to an agent without a run'
    FROM places
    JOIN part_spans step ON step.n = places.n
    WHERE places.agent IS NULL
        AND step.step_type <> 'agent_run'
        AND step.agent_name IS NULL
        AND places.trace_no IN (
            SELECT trace_no
            FROM part_spans
            WHERE step_type IS DISTINCT FROM 'agent_run' AND agent_name IS NOT NULL
        )
    UNION ALL
    -- read_transcripts: a span that is no model call holds the calls that were asked for
    SELECT trace_no, 'calls told by a transcript'
    FROM part_spans
    WHERE NOT is_model_call AND len(requested) > 0
    UNION ALL
    -- pair_requests: a request that no span answers by its id and name
    SELECT requests.trace_no, 'a requested call without a span'
    FROM requests
    ANTI JOIN tools
        ON tools.trace_no = requests.trace_no
        AND tools.tool_call_id = requests.call_id
        AND tools.step_name = requests.tool
    UNION ALL
    -- pair_requests: a call that ran with more arguments than were asked for
    SELECT requests.trace_no, 'a call with injected arguments'
    FROM requests
    JOIN tools ON tools.trace_no = requests.trace_no AND tools.tool_call_id = requests.call_id
    JOIN nodes ON nodes.n = tools.n
    JOIN spans ON spans.rowid = nodes.row_no
    WHERE json_type(spans.args) = 'OBJECT' AND len(json_keys(spans.args)) > requests.arg_count
    UNION ALL
    -- pair_requests: a call that may borrow its arguments or its id from the request
    SELECT trace_no, 'a call with less than its request'
    FROM tools
    WHERE (NOT has_args OR tool_call_id IS NULL)
        AND trace_no IN (SELECT trace_no FROM requests)
    UNION ALL
    -- pair_requests: a call that may borrow its result or its failure from messages, also from
    -- those of another trace
    SELECT trace_no, 'a call with less than its answer'
    FROM tools
    WHERE NOT has_result AND tool_call_id IN (SELECT unnest(answered) FROM spans)
    UNION ALL
    SELECT trace_no, 'a call whose answer may say that it failed'
    FROM tools
    WHERE failed IS NULL AND tool_call_id IN (SELECT unnest(answered_failed) FROM spans)
    UNION ALL
    -- pair_requests: of steps that start together, requested calls stand first, in their order
    SELECT trace_no, 'calls that start together'
    FROM part_spans
    WHERE step_type IS NOT NULL AND trace_no IN (SELECT trace_no FROM requests)
    GROUP BY trace_no, start_time
    HAVING count(*) > 1 AND bool_or(is_tool OR step_type = 'handoff')
    UNION ALL
    -- complete_handoffs
    SELECT trace_no, 'a handoff'
    FROM part_spans
    WHERE step_type = 'handoff'
    UNION ALL
    -- name_agents
    SELECT trace_no, 'an agent run without a name'
    FROM part_spans
    WHERE step_type = 'agent_run' AND agent_name IS NULL
    UNION ALL
    -- mark_mcp
    SELECT trace_no, 'a tool of an MCP server by its name'
    FROM tools
    WHERE step_type = 'tool_call' AND (is_mcp OR starts_with(step_name, 'mcp__'))
        OR starts_with(step_name, 'mcp__') AND NOT has_server
    UNION ALL
    -- judge_mcp_texts
    SELECT trace_no, 'an MCP call judged by its text'
    FROM tools
    WHERE step_type = 'mcp_tool_call' AND failed IS NULL
    UNION ALL
    -- tokens: a sum on a span that is no model call is used where the calls below it do not say
    SELECT trace_no, 'a sum of tokens'
    FROM part_spans
    WHERE NOT is_model_call
        AND (has_input OR has_output)
        AND trace_no IN (SELECT trace_no FROM calls WHERE NOT has_input)
    UNION ALL
    -- tokens: and where there are none
    SELECT sums.trace_no, 'a sum of tokens without model calls'
    FROM (SELECT * FROM part_spans JOIN places USING (n, trace_no)) sums
    WHERE NOT sums.is_model_call
        AND (sums.has_input OR sums.has_output)
        AND NOT EXISTS (
            FROM calls
            JOIN places USING (n, trace_no)
            WHERE calls.trace_no = sums.trace_no AND places.lft BETWEEN sums.lft AND sums.rgt
        )
    UNION ALL
    -- the session is the outermost span's
    SELECT trace_no, 'several sessions'
    FROM part_spans
    GROUP BY trace_no
    HAVING count(DISTINCT session_id) > 1
)
SELECT nodes.trace_id, any_value(found.reason)
FROM found
JOIN nodes ON nodes.n = found.trace_no
GROUP BY nodes.trace_id;
