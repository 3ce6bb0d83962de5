-- Find the cycles, and of each the earliest span, which becomes a root.
-- A parent that starts before its child has a smaller number; a cycle needs at least one edge the
-- other way, so only traces that have one are looked at. There, climb by doubling (after k rounds a
-- span sees its 2^k-th ancestor): once the reach exceeds the size of the trace, who still has an
-- ancestor hangs in a cycle, and what they see is exactly the spans of the cycles.
INSERT INTO cycles
WITH RECURSIVE
suspects AS (
    SELECT n, up
    FROM edges
    WHERE up IS NOT NULL
        AND trace_no IN (SELECT trace_no FROM edges WHERE up >= n)
),
bound AS (
    SELECT coalesce(max(spans), 0) AS spans
    FROM (SELECT count(*) AS spans FROM edges SEMI JOIN suspects USING (n) GROUP BY trace_no)
),
climb AS (
    SELECT n, up, n AS earliest, 1::BIGINT AS reach FROM suspects
    UNION ALL
    SELECT low.n, high.up, least(low.earliest, high.earliest), 2 * low.reach
    FROM climb low
    JOIN climb high ON low.up = high.n
    WHERE low.reach <= (SELECT spans FROM bound)
),
inside AS (
    SELECT n, up, earliest FROM climb WHERE reach > (SELECT spans FROM bound)
)
SELECT earliest, count(*)
FROM inside
WHERE n IN (SELECT up FROM inside)
GROUP BY earliest;
