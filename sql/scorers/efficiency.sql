-- The efficiency of every trace under every expectation that asks for it: budgets, repeated calls.
-- The definition is scorers/_efficiency.py; a property test holds both equal, field by field.
INSERT INTO scored
WITH
calls AS NOT MATERIALIZED (
    SELECT t, row_no, name_no, tool_no, ord, success, run, args_key
    FROM judged_steps
    WHERE is_tool AND executed
),
-- Few calls are like another of their trace; only these, told by a hash, are sorted and compared.
likely AS (
    SELECT t, hash(run, tool_no, args_key) AS likeness
    FROM calls
    WHERE args_key IS NOT NULL
    GROUP BY t, likeness
    HAVING count(*) > 1
),
-- A call repeats the latest one of its tool with equal arguments in its run, unless that failed.
repeats AS MATERIALIZED (
    SELECT t, row_no, name_no, earlier_row
    FROM (
        SELECT
            t,
            row_no,
            name_no,
            lag(row_no) OVER alike AS earlier_row,
            lag(success) OVER alike AS earlier_success
        FROM (SELECT *, hash(run, tool_no, args_key) AS likeness FROM calls)
        SEMI JOIN likely USING (t, likeness)
        WHERE args_key IS NOT NULL
        WINDOW alike AS (PARTITION BY t, run, tool_no, args_key ORDER BY ord)
    )
    WHERE earlier_row IS NOT NULL AND earlier_success IS DISTINCT FROM false
),
places AS MATERIALIZED (
    SELECT row_no, row_number() OVER (PARTITION BY t ORDER BY ord) - 1 AS index
    FROM calls
    WHERE t IN (SELECT t FROM repeats)
),
redundant AS (
    SELECT
        t,
        count(*) AS count,
        list_sort(list({
            'index': place.index,
            'call': {
                'name': step.name,
                'index': place.index,
                'spanId': step.span_id,
                'repeatsIndex': before.index,
                'repeatsSpanId': earlier.span_id,
                'agent': step.agent
            },
            'finding': finding(
                'efficiency',
                'call ' || place.index || ' of tool ' || shown || ' repeats call ' || before.index
                    || ' with equal arguments',
                'warning', 'violated', step.trace_id, [earlier.span_id, step.span_id], [step.name]
            )
        })) AS found
    FROM repeats
    JOIN judged_names USING (name_no)
    JOIN places place USING (row_no)
    JOIN places before ON before.row_no = earlier_row
    JOIN steps step ON step.rowid = repeats.row_no
    JOIN steps earlier ON earlier.rowid = earlier_row
    GROUP BY t
),
-- A call of unknown arguments may repeat any other call of its tool, if there is another.
unknown AS (
    SELECT t, sum(undecided)::BIGINT AS count
    FROM (
        SELECT t, count(*) FILTER (args_key IS NULL) AS undecided
        FROM calls
        WHERE t IN (SELECT t FROM calls WHERE args_key IS NULL)
        GROUP BY t, run, tool_no
        HAVING undecided > 0 AND count(*) > 1
    )
    GROUP BY t
),
counted AS (
    SELECT
        t,
        count(*) AS tree,
        count(*) FILTER (is_tool) AS tools,
        count(*) FILTER (depth = top_depth) AS top
    FROM judged_steps
    JOIN judged_traces USING (t)
    WHERE executed
    GROUP BY t
),
busiest AS (
    SELECT t, max(count) AS agent
    FROM (
        SELECT t, count(*) AS count
        FROM calls
        WHERE EXISTS (FROM asked WHERE scope = 'agent')
        GROUP BY t, run
    )
    GROUP BY t
),
-- Without a single root: from the first start to the last end at the top, if all are known and
-- the trace is no turn of a conversation; else the longest step is a lower bound.
timed AS (
    SELECT
        t,
        bool_and(end_time >= start_time AND start_time IS NOT NULL AND end_time IS NOT NULL)
            FILTER (executed AND depth = top_depth) AS tops_known,
        epoch_ns(max(end_time) FILTER (executed AND depth = top_depth))
            - epoch_ns(min(start_time) FILTER (executed AND depth = top_depth)) AS wall_ns,
        max(epoch_ns(end_time) - epoch_ns(start_time))
            FILTER (end_time >= start_time AND depth >= top_depth) AS longest_ns
    FROM judged_steps
    JOIN judged_traces USING (t)
    WHERE duration_ns IS NULL
    GROUP BY t
),
figures AS (
    SELECT
        traces.t,
        traces.trace_id,
        traces.root_span_ids,
        coalesce(tree, 0) AS tree,
        coalesce(tools, 0) AS tools,
        coalesce(top, 0) AS top,
        coalesce(agent, 0) AS agent,
        tokens,
        tokens_complete,
        CASE
            WHEN duration_ns IS NOT NULL THEN duration_ns
            WHEN is_walled THEN wall_ns
            ELSE longest_ns
        END / 1e6 AS duration_ms,
        duration_ns IS NOT NULL OR is_walled AS duration_complete,
        coalesce(redundant.count, 0) AS repeat_count,
        redundant.found AS repeats,
        coalesce(unknown.count, 0) AS unknown_calls
    FROM (
        SELECT judged_traces.*, wall_ns, longest_ns,
            session_id IS NULL AND coalesce(tops_known, false) AS is_walled
        FROM judged_traces
        LEFT JOIN timed USING (t)
        WHERE NOT is_odd
    ) traces
    LEFT JOIN counted USING (t)
    LEFT JOIN busiest USING (t)
    LEFT JOIN redundant USING (t)
    LEFT JOIN unknown USING (t)
),
-- over_…: NULL is not known. A lower bound can prove a budget exceeded, never that it is met.
over AS (
    SELECT
        figures.*,
        asked.*,
        CASE scope
            WHEN 'tools' THEN tools WHEN 'top' THEN top WHEN 'agent' THEN agent ELSE tree
        END AS steps,
        CASE WHEN scope IN ('tools', 'top', 'agent') THEN scope ELSE 'tree' END AS step_scope,
        max_steps IS NOT NULL AND steps > max_steps AS over_steps,
        CASE
            WHEN max_total_tokens IS NULL THEN false
            WHEN tokens > max_total_tokens THEN true
            WHEN tokens_complete AND tokens IS NOT NULL THEN false
        END AS over_tokens,
        CASE
            WHEN max_total_duration_ms IS NULL THEN false
            WHEN duration_ms > max_total_duration_ms THEN true
            WHEN duration_complete AND duration_ms IS NOT NULL THEN false
        END AS over_duration,
        coalesce(
            no_redundant_calls,
            max_steps IS NULL AND max_total_tokens IS NULL AND max_total_duration_ms IS NULL
        ) AS asks_repeats
    FROM judged
    JOIN asked USING (e)
    JOIN figures USING (t)
    WHERE asks_efficiency
),
valued AS (
    SELECT
        *,
        CASE WHEN max_steps IS NOT NULL
            THEN within_budget(steps::DOUBLE, max_steps, over_steps) END AS step_value,
        CASE WHEN max_total_tokens IS NOT NULL
            THEN within_budget(tokens::DOUBLE, max_total_tokens, over_tokens) END AS token_value,
        CASE WHEN max_total_duration_ms IS NOT NULL
            THEN within_budget(duration_ms, max_total_duration_ms, over_duration)
        END AS duration_value,
        CASE WHEN asks_repeats AND (unknown_calls = 0 OR repeat_count > 0)
            THEN greatest(0.0::DOUBLE, 1 - 0.2::DOUBLE * repeat_count) END AS repeat_value
    FROM over
),
known AS (
    SELECT
        *,
        (step_value IS NOT NULL)::INTEGER + (token_value IS NOT NULL)::INTEGER
            + (duration_value IS NOT NULL)::INTEGER + (repeat_value IS NOT NULL)::INTEGER AS known
    FROM valued
),
dimensions AS (
    SELECT
        *,
        CASE WHEN known > 0 THEN (
            coalesce(step_value, 0) + coalesce(token_value, 0)
            + coalesce(duration_value, 0) + coalesce(repeat_value, 0)
        ) / known END AS value,
        concat_ws(
            '; ',
            budget_text('step', max_steps, step_value),
            budget_text('token', max_total_tokens, token_value),
            budget_text('duration', max_total_duration_ms, duration_value),
            CASE
                WHEN NOT asks_repeats THEN NULL
                WHEN repeat_value IS NULL
                THEN 'redundant calls: not evaluable, the arguments were not all recorded'
                ELSE repeat_count || ' redundant calls'
            END
        ) AS said,
        '{' || concat_ws(
            ',',
            CASE WHEN max_steps IS NOT NULL
                THEN '"max_steps":' || coalesce(step_value::VARCHAR, 'null') END,
            CASE WHEN max_total_tokens IS NOT NULL
                THEN '"max_total_tokens":' || coalesce(token_value::VARCHAR, 'null') END,
            CASE WHEN max_total_duration_ms IS NOT NULL
                THEN '"max_total_duration_ms":' || coalesce(duration_value::VARCHAR, 'null') END,
            CASE WHEN asks_repeats
                THEN '"no_redundant_calls":' || coalesce(repeat_value::VARCHAR, 'null') END
        ) || '}' AS dimension_text
    FROM known
)
SELECT
    'efficiency',
    e,
    t,
    value,
    said AS reason,
    concat(
        '{"score":', coalesce(value::VARCHAR, 'null'),
        ',"totalSteps":', steps,
        ',"overStepBudget":', coalesce(over_steps::VARCHAR, 'null'),
        ',"totalTokens":', coalesce(tokens::VARCHAR, 'null'),
        ',"overTokenBudget":', coalesce(over_tokens::VARCHAR, 'null'),
        ',"totalDurationMs":', coalesce(duration_ms::VARCHAR, 'null'),
        ',"overDurationBudget":', coalesce(over_duration::VARCHAR, 'null'),
        ',"redundantCalls":', CASE WHEN repeats IS NULL THEN '[]'
            ELSE to_json(list_transform(repeats, lambda repeat: repeat.call))::VARCHAR END,
        ',"tokensComplete":', tokens_complete,
        ',"durationComplete":', duration_complete,
        ',"unknownCalls":', unknown_calls,
        ',"dimensions":', dimension_text,
        ',"scope":"', step_scope,
        '","reason":"', said,
        '"}'
    ),
    list_filter([
        budget_finding('step', max_steps, step_value, steps::VARCHAR, max_steps_text, true,
            trace_id, root_span_ids),
        budget_finding('token', max_total_tokens, token_value, tokens::VARCHAR,
            max_total_tokens_text, tokens_complete, trace_id, root_span_ids),
        budget_finding('duration', max_total_duration_ms, duration_value, duration_ms::VARCHAR,
            max_total_duration_ms_text, duration_complete, trace_id, root_span_ids),
        CASE WHEN asks_repeats AND repeat_value IS NULL THEN finding(
            'efficiency', 'redundant calls: not evaluable, what it needs was not recorded',
            'warning', 'unknown', trace_id, [], []
        ) END
    ], lambda found: found IS NOT NULL) || CASE WHEN asks_repeats AND repeats IS NOT NULL
        THEN list_transform(repeats, lambda repeat: repeat.finding) ELSE [] END
FROM dimensions;
