-- Lines in which a step may lack what it needs, whatever comes between. Parameters: rule_no,
-- scope_no, triggers, needs (matchers), direction, by_end.
INSERT INTO audit_candidates
WITH
wanting AS (
    SELECT DISTINCT n, unit_no, line_no, rank, never_over AND $by_end AS never_over,
        CASE WHEN $by_end THEN over ELSE rank + 1 END AS over
    FROM audit_lines
    JOIN audit_hits USING (n)
    WHERE scope_no = $scope_no AND matcher_no IN (SELECT unnest($triggers::INTEGER[]))
),
offered AS (
    SELECT
        line_no,
        min(CASE WHEN $by_end THEN over ELSE rank + 1 END)
            FILTER (NOT (never_over AND $by_end)) AS first_over,
        max(rank) AS last_rank,
        min(n) AS lowest,
        max(n) AS highest
    FROM audit_lines
    JOIN audit_hits USING (n)
    WHERE scope_no = $scope_no AND sure AND matcher_no IN (SELECT unnest($needs::INTEGER[]))
    GROUP BY line_no
)
SELECT DISTINCT $rule_no, unit_no
FROM wanting
LEFT JOIN offered USING (line_no)
WHERE NOT coalesce(CASE $direction
    WHEN 'before' THEN first_over <= rank
    WHEN 'after' THEN last_rank >= over AND NOT never_over
    ELSE lowest <> n OR highest <> n
END, false);
