-- Number the steps of every trace as a nested set, in log(depth) rounds.
-- grow: after k rounds, `up` is the 2^k-th ancestor and `size` counts the step and its descendants
--   nearer than 2^k; so at the end it is the whole subtree, and `depth` the number of ancestors.
-- climb: the left bound of a step is one more than its parent's plus two for every step below its
--   earlier siblings; summed up along the ancestors, again by doubling.
-- under: the nearest agent run above, past all other steps.
INSERT INTO places
WITH RECURSIVE
grow AS (
    SELECT n, up, 1::BIGINT AS size, (up IS NOT NULL)::BIGINT AS depth, 0 AS round FROM kept
    UNION ALL
    SELECT
        low.n,
        high.up,
        low.size + coalesce(below.size, 0),
        low.depth + coalesce(high.depth, 0),
        low.round + 1
    FROM grow low
    LEFT JOIN grow high ON low.up = high.n
    LEFT JOIN (
        SELECT up, sum(size)::BIGINT AS size FROM grow WHERE up IS NOT NULL GROUP BY up
    ) below ON below.up = low.n
    WHERE (SELECT count(up) FROM grow) > 0
),
sized AS (
    SELECT kept.n, kept.trace_no, kept.up, kept.is_agent, grow.size, grow.depth
    FROM kept
    JOIN grow ON grow.n = kept.n
    WHERE grow.round = (SELECT max(round) FROM grow)
),
offsets AS (
    SELECT
        n,
        up,
        1 + 2 * coalesce(sum(size) OVER (
            PARTITION BY trace_no, up ORDER BY n ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), 0)::BIGINT AS lft
    FROM sized
),
climb(n, up, lft) USING KEY (n) AS (
    SELECT n, up, lft FROM offsets
    UNION
    SELECT low.n, high.up, low.lft + high.lft
    FROM climb low
    JOIN recurring.climb high ON low.up = high.n
),
under(n, up) USING KEY (n) AS (
    SELECT n, up FROM kept WHERE NOT is_agent
    UNION
    SELECT low.n, high.up
    FROM under low
    JOIN recurring.under high ON low.up = high.n
)
SELECT
    sized.n,
    sized.trace_no,
    sized.up,
    sized.depth,
    row_number() OVER (PARTITION BY sized.trace_no ORDER BY sized.n) - 1,
    climb.lft,
    climb.lft + 2 * sized.size - 1,
    CASE WHEN under.n IS NULL THEN sized.up ELSE under.up END
FROM sized
JOIN climb ON climb.n = sized.n
LEFT JOIN under ON under.n = sized.up;
