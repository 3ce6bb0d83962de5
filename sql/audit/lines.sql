-- The counting steps of one scope, by line: rank, and from which rank on each counts as ended (the
-- smallest possible one where the end is not known: never_over then says that it is not that one for
-- certain, as of calls that one message may have asked for together).
-- Parameters: scope_no, types, under, not_under (kind numbers; NULL: not asked for), per.
INSERT INTO audit_lines
WITH
counting AS (
    SELECT
        *,
        CASE WHEN $per = 'session' THEN session_no ELSE trace_no END AS unit_no,
        CASE $per
            WHEN 'agent' THEN coalesce('s' || agent_span_id, 'a' || agent, '')
            WHEN 'parent' THEN coalesce(parent_step_id, '')
            ELSE ''
        END AS part
    FROM audit_steps step
    WHERE ($types IS NULL OR step_type IN (SELECT unnest($types::VARCHAR[])))
        AND ($under IS NULL OR EXISTS (
            FROM audit_steps above
            WHERE above.trace_no = step.trace_no
                AND above.lft < step.lft AND above.rgt > step.rgt
                AND above.kind_no IN (SELECT unnest($under::INTEGER[]))
        ))
        AND ($not_under IS NULL OR NOT EXISTS (
            FROM audit_steps above
            WHERE above.trace_no = step.trace_no
                AND above.lft < step.lft AND above.rgt > step.rgt
                AND above.kind_no IN (SELECT unnest($not_under::INTEGER[]))
        ))
),
ranked AS (
    SELECT
        *,
        min(n) OVER (PARTITION BY unit_no, part) AS line_no,
        row_number() OVER line - 1 AS rank,
        count(*) FILTER (executed) OVER (line ROWS UNBOUNDED PRECEDING) AS ran,
        coalesce(
            first_value(start_ns IGNORE NULLS)
                OVER (line ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING),
            9223372036854775807
        ) AS time_ns,
        start_ns IS NULL AND lead(start_ns) OVER line IS NULL
            AND coalesce(
                lead((trace_no, span_id)) OVER line = (trace_no, span_id), false
            ) AS is_asked_with_next
    FROM counting
    WINDOW line AS (PARTITION BY unit_no, part ORDER BY n)
)
SELECT
    $scope_no,
    n,
    unit_no,
    line_no,
    rank,
    ran,
    executed,
    start_ns,
    CASE
        WHEN start_ns IS NOT NULL AND end_ns > start_ns THEN greatest(rank + 1, count(*) OVER (
            PARTITION BY line_no
            ORDER BY time_ns
            RANGE BETWEEN UNBOUNDED PRECEDING AND least(
                greatest(coalesce(end_ns - start_ns, 0) - 1, 0), 9223372036854775807 - time_ns
            ) FOLLOWING
        ))
        ELSE rank + 1
    END AS over,
    is_asked_with_next OR (start_ns IS NOT NULL AND end_ns IS NULL) AS never_over
FROM ranked;
