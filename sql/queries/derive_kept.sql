-- Find the nearest ancestor of every step that is a step: noise vanishes, its children move up.
-- Runs of noise are climbed by doubling, so a long run takes few rounds.
INSERT INTO kept
WITH RECURSIVE noise(n, up) USING KEY (n) AS (
    SELECT n, up FROM edges WHERE NOT is_kept
    UNION
    SELECT low.n, high.up
    FROM noise low
    JOIN recurring.noise high ON low.up = high.n
)
SELECT
    step.n,
    step.trace_no,
    CASE WHEN noise.n IS NULL THEN step.up ELSE noise.up END,
    nodes.is_agent
FROM edges step
JOIN nodes ON nodes.n = step.n
LEFT JOIN noise ON noise.n = step.up
WHERE step.is_kept;
