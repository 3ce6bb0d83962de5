-- Write what is known of every trace of the part as a whole. Traces that a rule of RESOLVE concerns
-- are left to Python.
INSERT INTO trajectories BY NAME
WITH
rows AS (
    SELECT
        nodes.n,
        nodes.trace_no,
        nodes.trace_id,
        nodes.span_id,
        nodes.parent_span_id,
        nodes.start_time,
        nodes.is_kept,
        nodes.is_agent,
        nodes.is_model_call,
        edges.up IS NULL AND NOT edges.is_orphan AS is_root,
        edges.is_orphan,
        spans.name,
        spans.step_name,
        spans.agent_name,
        spans.session_id,
        spans.duration_ns,
        spans.input_tokens,
        spans.output_tokens,
        spans.cached_input_tokens
    FROM nodes
    JOIN edges USING (n)
    JOIN spans ON spans.rowid = nodes.row_no
    WHERE nodes.trace_id NOT IN (SELECT trace_id FROM unresolved)
),
calls AS (
    SELECT
        trace_no,
        count(*) AS calls,
        sum(input_tokens)::BIGINT AS input_tokens,
        sum(output_tokens)::BIGINT AS output_tokens,
        (sum(coalesce(cached_input_tokens, 0)) FILTER (input_tokens IS NOT NULL))::BIGINT
            AS cached_input_tokens,
        bool_and(input_tokens IS NOT NULL AND output_tokens IS NOT NULL) AS complete
    FROM rows
    WHERE is_model_call
    GROUP BY trace_no
),
names AS (
    SELECT trace_no, list(name ORDER BY first) AS agents
    FROM (
        SELECT rows.trace_no, CASE
            WHEN rows.is_agent THEN coalesce(nullif(rows.step_name, ''), rows.name)
            WHEN places.agent IS NULL THEN nullif(rows.agent_name, '')
        END AS name, min(rows.n) AS first
        FROM rows
        JOIN places USING (n)
        GROUP BY ALL
        HAVING name IS NOT NULL
    )
    GROUP BY trace_no
),
missing AS (
    SELECT trace_no, list(parent_span_id ORDER BY first) AS parents
    FROM (
        SELECT trace_no, parent_span_id, min(n) AS first
        FROM rows
        WHERE is_orphan
        GROUP BY trace_no, parent_span_id
    )
    GROUP BY trace_no
),
whole AS (
    SELECT
        trace_no,
        any_value(trace_id) AS trace_id,
        any_value(nullif(session_id, '')) AS session_id,
        min(start_time) AS start_time,
        CASE WHEN count(*) FILTER (is_root) = 1 THEN any_value(duration_ns) FILTER (is_root) END
            AS duration_ns,
        coalesce(list(span_id ORDER BY n) FILTER (is_root), []) AS root_span_ids,
        coalesce(list(span_id ORDER BY n) FILTER (is_orphan), []) AS orphans,
        count(*) AS span_count,
        count(*) FILTER (NOT is_kept) AS noise_span_count,
        bool_or(is_agent) AS has_agents
    FROM rows
    GROUP BY trace_no
)
SELECT
    whole.* EXCLUDE (trace_no, has_agents),
    coalesce(missing.parents, []) AS missing_parents,
    coalesce(names.agents, []) AS agents,
    CASE WHEN has_agents AND calls.calls IS NULL THEN NULL ELSE coalesce(calls.calls, 0) END
        AS model_calls,
    calls.input_tokens,
    calls.output_tokens,
    calls.cached_input_tokens,
    coalesce(calls.complete AND calls.input_tokens IS NOT NULL, false) AS tokens_complete
FROM whole
LEFT JOIN calls USING (trace_no)
LEFT JOIN names USING (trace_no)
LEFT JOIN missing USING (trace_no)
ORDER BY trace_no;
