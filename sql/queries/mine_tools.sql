-- Tools by the traces they ran in, most used first. Parameters: most.
WITH calls AS (
    SELECT trace_id, tool AS name, ord,
        ord = min(ord) OVER (PARTITION BY trace_id) AS is_first,
        ord = max(ord) OVER (PARTITION BY trace_id) AS is_last
    FROM tool_calls
    WHERE executed
),
by_trace AS (
    SELECT trace_id, name, count(*) AS calls, bool_or(is_first) AS is_first, bool_or(is_last) AS is_last
    FROM calls
    GROUP BY ALL
)
SELECT name, count(*) AS traces, max(calls) AS most_calls,
    quantile_disc(calls, 0.99) AS usual_calls,
    count(*) FILTER (is_first) AS first_in, count(*) FILTER (is_last) AS last_in,
    (SELECT count(DISTINCT trace_id) FROM by_trace) AS all_traces
FROM by_trace
GROUP BY name
ORDER BY traces DESC, name
LIMIT $most;
