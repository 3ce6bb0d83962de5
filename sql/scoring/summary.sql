-- How many scores, how many of them evaluable, how many pairs of trace and expectation, and how many
-- of these are perfect. Parameters: scorers (those that were asked for).
WITH shown AS (SELECT * FROM scored WHERE scorer IN (SELECT unnest($scorers::VARCHAR[]))),
pairs AS (
    SELECT bool_and(coalesce(value = 1, false) AND len(findings) = 0) AS is_perfect
    FROM shown
    GROUP BY e, t
)
SELECT
    (SELECT count(*) FROM shown),
    (SELECT count(value) FROM shown),
    (SELECT count(*) FROM pairs),
    (SELECT count(*) FROM pairs WHERE is_perfect);
