-- What is forbidden and occurred, in every trace under every expectation that forbids anything.
-- The definition is scorers/_blacklist.py; a property test holds both equal, field by field.
-- Parameters: max_hits, the occurrences kept.
INSERT INTO scored
WITH
marked AS (
    SELECT e, rule, nth, step.*
    FROM judged_steps step
    JOIN asked_names USING (name_no)
    SEMI JOIN judged ON judged.e = asked_names.e AND judged.t = step.t
),
single AS (
    SELECT e, rule, t, 0 AS line, 0 AS line_ord, lft AS start, [row_no] AS row_nos, false AS by_run
    FROM marked
    JOIN asked_rules USING (e, rule)
    JOIN judged_traces USING (t)
    WHERE NOT is_sequence
        AND CASE places WHEN 'top' THEN depth = top_depth WHEN 'tools' THEN is_tool ELSE true END
),
-- Only in a trace that has every name of a sequence may the sequence stand.
candidates AS (
    SELECT e, rule, t, any_value(lines) AS lines
    FROM marked
    JOIN asked_rules USING (e, rule)
    WHERE is_sequence AND (is_tool OR lines IN ('tree', 'top'))
    GROUP BY e, rule, t
    HAVING count(DISTINCT nth) = any_value(size)
),
pieces AS MATERIALIZED (
    SELECT
        t,
        lines,
        row_no,
        name_no,
        executed,
        run,
        CASE WHEN lines IN ('tree', 'top') THEN lft ELSE ord END AS place
    FROM (SELECT DISTINCT t, lines FROM candidates)
    JOIN judged_steps USING (t)
    JOIN judged_traces USING (t)
    WHERE CASE lines WHEN 'tree' THEN true WHEN 'top' THEN depth = top_depth ELSE is_tool END
),
-- Calls of parallel agents interleave, so each of several runs is a line of its own as well.
run_pieces AS (
    SELECT *, min(place) OVER (PARTITION BY t, lines, run) AS run_place
    FROM pieces
    WHERE lines = 'agent' OR (lines = 'tools' AND t IN (
        SELECT t FROM pieces WHERE lines = 'tools' GROUP BY t HAVING min(run) <> max(run)
    ))
),
requests AS (SELECT DISTINCT t, lines FROM pieces WHERE NOT executed),
-- The lines of steps in the order they are looked at: what was executed, of the whole trace and of
-- each agent run by itself; then the same with the calls that were only requested.
lined AS (
    SELECT t, lines, 0 AS line, 0 AS line_ord, false AS by_run, row_no, name_no,
        row_number() OVER (PARTITION BY t, lines ORDER BY place) AS pos
    FROM pieces
    WHERE lines <> 'agent' AND (executed OR lines = 'top')
    UNION ALL
    SELECT t, lines, 1, run_place, true, row_no, name_no,
        row_number() OVER (PARTITION BY t, lines, run ORDER BY place)
    FROM run_pieces
    WHERE executed
    UNION ALL
    SELECT t, lines, 2, 0, false, row_no, name_no,
        row_number() OVER (PARTITION BY t, lines ORDER BY place)
    FROM pieces
    SEMI JOIN requests USING (t, lines)
    WHERE lines NOT IN ('agent', 'top')
    UNION ALL
    SELECT t, lines, 3, run_place, true, row_no, name_no,
        row_number() OVER (PARTITION BY t, lines, run ORDER BY place)
    FROM run_pieces
    SEMI JOIN requests USING (t, lines)
),
sequences AS (
    SELECT e, rule, t, line, line_ord, start, row_nos, by_run
    FROM (
        SELECT
            e,
            rule,
            t,
            line,
            line_ord,
            pos - nth AS start,
            by_run,
            list(row_no ORDER BY nth) AS row_nos
        FROM candidates
        JOIN lined USING (t, lines)
        JOIN asked_names USING (e, rule, name_no)
        GROUP BY ALL
    )
    JOIN asked_rules USING (e, rule)
    WHERE len(row_nos) = size
    QUALIFY row_number() OVER (
        PARTITION BY e, rule, t, row_nos ORDER BY line, line_ord, start
    ) = 1
),
numbered AS (
    SELECT *, row_number() OVER (PARTITION BY e, t ORDER BY rule, line, line_ord, start) AS hit
    FROM (FROM single UNION ALL FROM sequences)
),
witnesses AS (
    SELECT
        e,
        t,
        hit,
        any_value(rule) AS rule,
        list(step.name ORDER BY nth) AS names,
        list(step.span_id ORDER BY nth) AS span_ids,
        bool_or(NOT step.executed) AS requested,
        CASE WHEN count(*) = 1 OR any_value(by_run) THEN first(
            CASE WHEN NOT (is_unwrapped AND step.depth = 0) THEN step.agent END ORDER BY nth
        ) END AS agent
    FROM (
        SELECT e, t, hit, rule, by_run, unnest(row_nos) AS row_no, generate_subscripts(row_nos, 1) AS nth
        FROM numbered
        WHERE hit <= $max_hits
    )
    JOIN steps step ON step.rowid = row_no
    JOIN judged_traces USING (t)
    GROUP BY e, t, hit
),
violated AS (
    SELECT
        e,
        t,
        list(texts[1] ORDER BY rule) FILTER (NOT is_sequence) AS tools,
        list(texts ORDER BY rule) FILTER (is_sequence) AS sequences,
        sum(hits)::BIGINT AS hits,
        string_agg(array_to_string(texts, ' > '), ', ' ORDER BY rule) AS said
    FROM (SELECT e, t, rule, count(*) AS hits FROM numbered GROUP BY ALL)
    JOIN asked_rules USING (e, rule)
    GROUP BY e, t
),
told AS (
    SELECT
        e,
        t,
        list_sort(list({
            'hit': hit,
            'told': {
                'rule': texts,
                'names': names,
                'spanIds': span_ids,
                'requested': requested,
                'agent': agent
            },
            'finding': finding(
                'blacklist',
                CASE WHEN len(texts) > 1
                    THEN 'forbidden sequence ' || array_to_string(texts, ' > ') || ': '
                        || array_to_string(names, ' > ')
                    ELSE 'forbidden tool ' || texts[1] || ': ' || names[1]
                END || CASE WHEN requested THEN ' (requested, never ran)' ELSE '' END,
                'error', 'violated', trace_id, span_ids, names
            )
        })) AS hits
    FROM witnesses
    JOIN asked_rules USING (e, rule)
    JOIN judged_traces USING (t)
    GROUP BY e, t
)
SELECT
    'blacklist',
    e,
    t,
    CASE WHEN has_steps THEN CASE WHEN told.hits IS NULL THEN 1.0 ELSE 0.0 END END AS value,
    CASE
        WHEN NOT has_steps THEN 'the trajectory has no steps'
        WHEN told.hits IS NULL THEN 'nothing forbidden occurred'
        ELSE 'forbidden: ' || violated.said
    END AS reason,
    CASE
        WHEN NOT has_steps THEN '{"score":null,"reason":"the trajectory has no steps"}'
        WHEN told.hits IS NULL THEN '{"score":1.0,"violatedTools":[],"violatedSequences":[],'
            || '"hits":[],"hitsNotShown":0,"reason":"nothing forbidden occurred"}'
        ELSE to_json({
            'score': 0.0::DOUBLE,
            'violatedTools': coalesce(violated.tools, []),
            'violatedSequences': coalesce(violated.sequences, []),
            'hits': list_transform(told.hits, lambda one: one.told),
            'hitsNotShown': greatest(0, violated.hits - $max_hits),
            'reason': 'forbidden: ' || violated.said
        })
    END,
    coalesce(list_transform(told.hits, lambda one: one.finding), [])
FROM judged
JOIN asked USING (e)
JOIN judged_traces USING (t)
LEFT JOIN told USING (e, t)
LEFT JOIN violated USING (e, t)
WHERE asks_blacklist AND NOT is_odd;
