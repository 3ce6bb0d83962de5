-- The same within a time. Parameters: rule_no, scope_no, matcher, max_count, within_ns.
INSERT INTO audit_candidates
SELECT DISTINCT $rule_no, unit_no
FROM (
    SELECT
        unit_no,
        start_ns,
        count(*) OVER (PARTITION BY line_no) AS matches,
        count(*) OVER (
            PARTITION BY line_no
            ORDER BY start_ns
            RANGE BETWEEN $within_ns::BIGINT PRECEDING AND CURRENT ROW
        ) AS close
    FROM audit_lines
    JOIN audit_hits USING (n)
    WHERE scope_no = $scope_no AND matcher_no = $matcher
)
WHERE close > $max_count OR (start_ns IS NULL AND matches > $max_count);
