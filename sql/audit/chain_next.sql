-- Where it may go on: each next step with the nearest one before it. What the steps must share,
-- how long it may take and what may guard it is left to the definition: without these the nearest
-- step before is the best of all, so no sequence is lost. Parameters: scope_no, matcher, by_end,
-- max_gap (executed steps between two; NULL: any number).
CREATE OR REPLACE TABLE audit_chain AS
SELECT unit_no, line_no, rank, ran, over
FROM (
    SELECT
        *,
        max(CASE WHEN is_before THEN {'rank': rank, 'ran': ran} END) OVER (
            PARTITION BY line_no ORDER BY place, is_before DESC
            ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
        ) AS nearest
    FROM (
        SELECT unit_no, line_no, rank, ran, false AS executed, over, over AS place, true AS is_before
        FROM audit_chain
        UNION ALL
        SELECT DISTINCT
            unit_no, line_no, rank, ran, executed,
            CASE WHEN $by_end THEN over ELSE rank + 1 END, rank, false
        FROM audit_lines
        JOIN audit_hits USING (n)
        WHERE scope_no = $scope_no AND matcher_no = $matcher
    )
)
WHERE NOT is_before
    AND nearest IS NOT NULL
    AND ($max_gap IS NULL OR ran - executed::INTEGER - nearest.ran <= $max_gap);
