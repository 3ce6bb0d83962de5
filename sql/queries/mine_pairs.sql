-- How often two tools ran in one trace, and in which order. Parameters: names.
WITH by_trace AS (
    SELECT trace_id, tool AS name, min(ord) AS first_ord, max(ord) AS last_ord
    FROM tool_calls
    WHERE executed AND list_contains($names::VARCHAR[], tool)
    GROUP BY ALL
)
SELECT one.name AS one, other.name AS other, count(*) AS traces,
    count(*) FILTER (one.first_ord < other.first_ord) AS before,
    count(*) FILTER (other.last_ord > one.last_ord) AS after,
    count(*) FILTER (one.first_ord < other.last_ord) AS followed
FROM by_trace AS one
JOIN by_trace AS other USING (trace_id)
WHERE one.name <> other.name
GROUP BY ALL
ORDER BY traces DESC, one, other;
