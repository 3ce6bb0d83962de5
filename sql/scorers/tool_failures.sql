-- The failures of tool calls in every trace, and what became of them, under every expectation.
-- The definition is scorers/_failures.py; a property test holds both equal, field by field.
-- Parameters: nan_mark, what a key of arguments that hold a NaN starts with.
INSERT INTO scored
WITH RECURSIVE
runs AS (
    SELECT t, run, min(ord)::BIGINT AS run_ord FROM judged_steps WHERE is_tool GROUP BY t, run
),
-- A call that was requested and of which nothing more is known was not made.
calls AS NOT MATERIALIZED (
    SELECT t, run, row_no, name_no, tool_no, ord, success, args_key, start_time, end_time
    FROM judged_steps
    WHERE is_tool AND (executed OR success = false)
),
followed AS MATERIALIZED (
    SELECT
        *,
        lead(ord) OVER same_tool AS same_ord,
        lead(start_time) OVER same_tool AS same_start,
        lead(ord) OVER whole_run AS any_ord,
        lead(start_time) OVER whole_run AS any_start
    FROM calls
    WHERE t IN (SELECT t FROM calls WHERE success = false)
    WINDOW
        same_tool AS (PARTITION BY t, run, tool_no ORDER BY ord),
        whole_run AS (PARTITION BY t, run ORDER BY ord)
),
failed AS MATERIALIZED (SELECT * FROM followed WHERE success = false),
-- A call that started before the failed one ended does not answer it: look further.
same_later AS (
    SELECT failed.row_no, min(later.ord) AS ord
    FROM failed
    JOIN calls later
        ON later.t = failed.t AND later.run = failed.run AND later.tool_no = failed.tool_no
        AND later.ord > failed.same_ord
        AND (later.start_time IS NULL OR later.start_time >= failed.end_time)
    WHERE failed.same_start < failed.end_time
    GROUP BY failed.row_no
),
same_answers AS (
    SELECT
        failed.*,
        CASE WHEN same_start < end_time THEN same_later.ord ELSE same_ord END AS same_answer
    FROM failed
    LEFT JOIN same_later USING (row_no)
),
any_later AS (
    SELECT failed.row_no, min(later.ord) AS ord
    FROM same_answers failed
    JOIN calls later
        ON later.t = failed.t AND later.run = failed.run AND later.ord > failed.any_ord
        AND (later.start_time IS NULL OR later.start_time >= failed.end_time)
    WHERE failed.same_answer IS NULL AND failed.any_start < failed.end_time
    GROUP BY failed.row_no
),
answered AS MATERIALIZED (
    SELECT
        failed.t,
        failed.run,
        failed.row_no,
        failed.name_no,
        failed.tool_no,
        failed.ord,
        answer.row_no AS answer_row,
        answer.name_no AS answer_name,
        answer.success AS answer_success,
        same_answer IS NULL OR (failed.args_key IS NOT NULL AND answer.args_key IS NOT NULL)
            AS args_known,
        CASE
            WHEN answer.row_no IS NULL THEN 'failure'
            WHEN same_answer IS NULL THEN 'fallback'
            WHEN NOT args_known THEN 'retry'
            WHEN failed.args_key = answer.args_key AND NOT starts_with(answer.args_key, $nan_mark)
            THEN 'retry'
            ELSE 'arg_correction'
        END AS type
    FROM same_answers failed
    LEFT JOIN any_later USING (row_no)
    LEFT JOIN calls answer
        ON answer.t = failed.t AND answer.run = failed.run
        AND answer.ord = coalesce(
            same_answer,
            CASE WHEN any_start < failed.end_time THEN any_later.ord ELSE any_ord END
        )
),
-- Of several failures with one answer the last is the link of a chain; a chain is of one type.
before AS (
    SELECT failed.row_no, arg_max(before.row_no, before.ord) AS row_before,
        arg_max(before.type, before.ord) AS type_before
    FROM answered before
    JOIN answered failed ON failed.row_no = before.answer_row
    WHERE before.type IN ('retry', 'arg_correction')
    GROUP BY failed.row_no
),
-- Followed to their ends by doubling: an answer that failed leads on to its own answer (`lead`),
-- as long as the tool is the same (`tool`), and back to the first failure of a chain (`back`).
links(kind, row_no, next, last) USING KEY (kind, row_no) AS (
    SELECT kind, row_no, next, coalesce(next, row_no)
    FROM (
        SELECT 'lead' AS kind, row_no, CASE WHEN answer_success = false THEN answer_row END AS next
        FROM answered
        UNION ALL
        SELECT 'tool', row_no, CASE
            WHEN answer_success = false AND type IN ('retry', 'arg_correction') THEN answer_row
        END
        FROM answered
        UNION ALL
        SELECT 'back', answered.row_no, CASE WHEN type_before = type THEN row_before END
        FROM answered
        LEFT JOIN before USING (row_no)
    )
    UNION
    SELECT low.kind, low.row_no, high.next, high.last
    FROM links low
    JOIN recurring.links high ON low.kind = high.kind AND low.next = high.row_no
),
outcomes AS MATERIALIZED (
    SELECT
        answered.*,
        CASE WHEN lead.answer_row IS NULL THEN false ELSE lead.answer_success END AS recovered,
        tool.type AS end_type,
        tool.answer_name AS end_answer,
        back.last AS chain
    FROM answered
    JOIN links lead_link ON lead_link.kind = 'lead' AND lead_link.row_no = answered.row_no
    JOIN answered lead ON lead.row_no = lead_link.last
    JOIN links tool_link ON tool_link.kind = 'tool' AND tool_link.row_no = answered.row_no
    JOIN answered tool ON tool.row_no = tool_link.last
    JOIN links back ON back.kind = 'back' AND back.row_no = answered.row_no
),
chains AS (
    SELECT
        outcomes.t,
        outcomes.run,
        min(outcomes.ord) AS ord,
        any_value(type) AS type,
        arg_min(step.name, outcomes.ord) AS tool_name,
        arg_min(names.shown, outcomes.ord) AS tool_shown,
        count(*) AS failures,
        arg_max_null(recovered, outcomes.ord) AS recovered,
        bool_and(args_known) AS args_known,
        arg_min_null(step.agent, outcomes.ord) AS agent,
        list(step.span_id ORDER BY outcomes.ord) AS span_ids,
        arg_max_null(answer_row, outcomes.ord) AS answer_row,
        arg_max_null(answer_success, outcomes.ord) AS answer_success,
        arg_max(end_type, outcomes.ord) AS end_type,
        arg_max_null(end_answer, outcomes.ord) AS end_answer,
        coalesce(
            list(step.failure ORDER BY outcomes.ord) FILTER (step.failure <> ''), []
        ) AS messages
    FROM outcomes
    JOIN steps step ON step.rowid = outcomes.row_no
    JOIN judged_names names USING (name_no)
    GROUP BY outcomes.t, outcomes.run, chain
),
patterns AS MATERIALIZED (
    SELECT
        chains.t,
        {'run_ord': run_ord, 'ord': chains.ord} AS place,
        {
            'type': type,
            'toolName': tool_name,
            'retryCount': CASE WHEN type = 'retry' THEN failures ELSE 0 END,
            'fellBackToAlternative': end_type = 'fallback',
            'alternativeTool': CASE WHEN end_type = 'fallback' THEN alternative.name END,
            'eventuallySucceeded': CASE
                WHEN end_type IN ('failure', 'fallback') THEN false ELSE answer_success
            END,
            'failures': failures,
            'recovered': recovered,
            'argsKnown': args_known,
            'agent': chains.agent,
            'spanIds': CASE WHEN answer_row IS NULL THEN span_ids
                ELSE list_append(span_ids, answer.span_id) END,
            'messages': messages
        } AS pattern,
        'tool ' || tool_shown || ' failed '
            || CASE WHEN failures > 1 THEN failures || ' times' ELSE 'once' END
            || CASE type
                WHEN 'failure' THEN ' and no call followed'
                WHEN 'retry' THEN ' and was retried'
                WHEN 'arg_correction' THEN ' and was called with other arguments'
                ELSE ' and ' || alternative.shown || ' followed'
            END
            || CASE
                WHEN recovered IS NULL THEN ', recovery unknown'
                WHEN recovered THEN ''
                ELSE ', without recovery'
            END
            || coalesce(': ' || messages[-1], '') AS message
    FROM chains
    JOIN runs USING (t, run)
    LEFT JOIN steps answer ON answer.rowid = chains.answer_row
    LEFT JOIN judged_names alternative ON alternative.name_no = chains.end_answer
),
told AS (
    SELECT
        t,
        list_sort(list({
            'place': place,
            'pattern': to_json(pattern)::VARCHAR,
            'finding': finding(
                'tool-failures',
                message,
                CASE
                    WHEN pattern.recovered = false THEN 'error'
                    WHEN pattern.recovered AND pattern.type <> 'fallback' THEN 'info'
                    ELSE 'warning'
                END,
                CASE
                    WHEN pattern.recovered IS NULL THEN 'unknown'
                    WHEN pattern.recovered THEN 'satisfied'
                    ELSE 'violated'
                END,
                trace_id,
                pattern.spanIds,
                [pattern.toolName]
            )
        })) AS found
    FROM patterns
    JOIN judged_traces USING (t)
    GROUP BY t
),
-- Nearly every tool goes by one name; of another, its first call in the trace tells which.
tool_texts AS MATERIALIZED (
    SELECT tool_no, min(text_no) AS text_no, min(text_no) < max(text_no) AS is_varied
    FROM judged_names
    WHERE is_tool
    GROUP BY tool_no
),
first_texts AS (
    SELECT t, tool_no, arg_min(text_no, (run_ord, ord)) AS text_no
    FROM calls
    JOIN judged_names USING (name_no, tool_no)
    JOIN runs USING (t, run)
    WHERE tool_no IN (SELECT tool_no FROM tool_texts WHERE is_varied)
    GROUP BY t, tool_no
),
tool_failures AS (
    SELECT
        t,
        coalesce(first_texts.text_no, tool_texts.text_no) AS text_no,
        count(*) AS failed,
        count(*) FILTER (type = 'retry') AS retries,
        count(*) FILTER (type = 'arg_correction') AS arg_corrections,
        count(*) FILTER (type = 'fallback') AS fallbacks,
        count(*) FILTER (recovered = false) AS unrecovered
    FROM outcomes
    JOIN tool_texts USING (tool_no)
    LEFT JOIN first_texts USING (t, tool_no)
    GROUP BY ALL
),
-- Two tools may have one name; their calls are told together.
tools AS MATERIALIZED (
    SELECT
        t,
        text_no,
        place,
        calls,
        calls - known AS unknown,
        coalesce(failed, 0) AS failed,
        coalesce(retries, 0) AS retries,
        coalesce(arg_corrections, 0) AS arg_corrections,
        coalesce(fallbacks, 0) AS fallbacks,
        coalesce(unrecovered, 0) AS unrecovered
    FROM (
        SELECT
            t,
            coalesce(first_texts.text_no, tool_texts.text_no) AS text_no,
            min(run_ord * 4294967296 + ord) AS place,
            count(*) AS calls,
            count(success) AS known
        FROM calls
        JOIN runs USING (t, run)
        JOIN tool_texts USING (tool_no)
        LEFT JOIN first_texts USING (t, tool_no)
        GROUP BY ALL
    )
    LEFT JOIN tool_failures USING (t, text_no)
),
-- Few different lines of totals stand for all of them, so each is written once.
lines AS MATERIALIZED (
    SELECT row_number() OVER () AS line, *
    FROM (SELECT DISTINCT * EXCLUDE (t, place) FROM tools)
),
written AS (
    SELECT list(concat(
        quoted, ':{"calls":', calls, ',"failed":', failed, ',"unknown":', unknown,
        ',"retries":', retries, ',"argCorrections":', arg_corrections,
        ',"fallbacks":', fallbacks, ',"unrecovered":', unrecovered, '}'
    ) ORDER BY line) AS texts
    FROM lines
    JOIN judged_names names ON names.name_no = lines.text_no
),
totals AS (
    SELECT
        t,
        sum(calls)::BIGINT AS calls,
        sum(unknown)::BIGINT AS unknown,
        list_sort(list(place::HUGEINT * 4294967296 + line)) AS placed
    FROM tools
    JOIN lines USING (text_no, calls, failed, unknown, retries, arg_corrections, fallbacks, unrecovered)
    GROUP BY t
),
lost AS (
    SELECT
        t,
        count(*) AS failures,
        count(*) FILTER (type = 'retry') AS retries,
        count(*) FILTER (type = 'arg_correction') AS arg_corrections,
        count(*) FILTER (type = 'fallback') AS fallbacks,
        count(*) FILTER (recovered = false) AS unrecovered,
        count(*) FILTER (recovered IS NULL) AS undecided,
        sum(CASE WHEN NOT coalesce(recovered, false) THEN 1.0 WHEN type = 'fallback' THEN 0.5 END)
            ::DOUBLE AS lost_low,
        sum(CASE WHEN NOT coalesce(recovered, true) THEN 1.0 WHEN type = 'fallback' THEN 0.5 END)
            ::DOUBLE AS lost_high
    FROM outcomes
    GROUP BY t
),
-- Calls that were retried more often than an expectation allows.
excessive AS (
    SELECT
        judged.e,
        judged.t,
        sum(retries - max_retries ORDER BY place) AS excess,
        list(names.name ORDER BY place) AS names,
        list(finding(
            'tool-failures',
            'tool ' || shown || ' was retried ' || retries || ' times, at most '
                || max_retries_text || ' allowed',
            'error', 'violated', trace_id, coalesce(spans.span_ids, []), [names.name]
        ) ORDER BY place) AS findings
    FROM tools
    JOIN judged_names names ON names.name_no = tools.text_no
    JOIN judged USING (t)
    JOIN asked USING (e)
    JOIN judged_traces USING (t)
    LEFT JOIN (
        SELECT t, name, list(span_id ORDER BY first) AS span_ids
        FROM (
            SELECT t, name, span_id, min((place, nth)) AS first
            FROM (
                SELECT t, place, pattern.toolName AS name, unnest(pattern.spanIds) AS span_id,
                    generate_subscripts(pattern.spanIds, 1) AS nth
                FROM patterns
            )
            GROUP BY t, name, span_id
        )
        GROUP BY t, name
    ) spans ON spans.t = judged.t AND spans.name = names.name
    WHERE retries > max_retries
    GROUP BY judged.e, judged.t
),
figures AS (
    SELECT
        judged.e,
        judged.t,
        max_retries,
        coalesce(calls, 0) AS calls,
        coalesce(unknown, 0) AS unknown,
        coalesce(calls - unknown, 0) AS known,
        coalesce(array_to_string(list_transform(
            placed, lambda place: texts[(place & 4294967295)::BIGINT]
        ), ','), '') AS tools,
        coalesce(failures, 0) AS failures,
        coalesce(retries, 0) AS retries,
        coalesce(arg_corrections, 0) AS arg_corrections,
        coalesce(fallbacks, 0) AS fallbacks,
        coalesce(unrecovered, 0) AS unrecovered,
        coalesce(undecided, 0) AS undecided,
        greatest(0.0::DOUBLE, 1 - coalesce(lost_low, 0) / greatest(1, known)
            - 0.2::DOUBLE * coalesce(excess, 0)) AS low,
        greatest(0.0::DOUBLE, 1 - coalesce(lost_high, 0) / greatest(1, known)
            - 0.2::DOUBLE * coalesce(excess, 0)) AS high,
        CASE WHEN known > 0 AND low = high THEN low END AS score,
        coalesce(excessive.names, []) AS excessive_names,
        told.found AS found,
        excessive.findings AS excessive_findings,
        CASE
            WHEN coalesce(calls, 0) = 0 THEN 'no tool calls'
            WHEN known = 0 THEN 'the outcome of no tool call was recorded'
            ELSE concat_ws(
                '; ',
                CASE WHEN failures > 0 THEN failures || ' of ' || known || ' tool calls failed'
                    ELSE 'no tool call failed' END,
                CASE WHEN failures > 0 THEN unrecovered || ' without recovery' END,
                CASE WHEN undecided > 0
                    THEN 'whether ' || undecided || ' were recovered was not recorded' END,
                CASE WHEN calls > known
                    THEN 'the outcome of ' || (calls - known) || ' more is unknown' END,
                'too many retries: ' || array_to_string(excessive.names, ', ')
            )
        END AS reason
    FROM judged
    JOIN asked USING (e)
    JOIN judged_traces USING (t)
    CROSS JOIN written
    LEFT JOIN totals USING (t)
    LEFT JOIN lost USING (t)
    LEFT JOIN told USING (t)
    LEFT JOIN excessive ON excessive.e = judged.e AND excessive.t = judged.t
    WHERE NOT is_odd
)
SELECT
    'tool-failures',
    e,
    t,
    score,
    reason,
    concat(
        '{"score":', coalesce(score::VARCHAR, 'null'),
        ',"patterns":[', array_to_string(list_transform(found, lambda one: one.pattern), ','),
        '],"totalRetries":', retries,
        ',"excessiveRetryTools":', CASE WHEN len(excessive_names) > 0
            THEN to_json(excessive_names)::VARCHAR ELSE '[]' END,
        ',"totalFailures":', failures,
        ',"totalArgCorrections":', arg_corrections,
        ',"totalFallbacks":', fallbacks,
        ',"unrecovered":', unrecovered,
        ',"unknownRecoveries":', undecided,
        ',"scoreLow":', low,
        ',"scoreHigh":', high,
        ',"calls":', calls,
        ',"unknownCalls":', unknown,
        ',"maxRetriesPerTool":', max_retries,
        ',"tools":{', tools,
        '},"reason":', json_quote(reason),
        '}'
    ),
    coalesce(list_transform(found, lambda one: one.finding), []) || coalesce(excessive_findings, [])
FROM figures;
