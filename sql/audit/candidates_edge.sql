-- Lines whose first (last) executed step is not surely one of those asked for. Parameters: rule_no,
-- scope_no, matchers, is_first.
INSERT INTO audit_candidates
SELECT DISTINCT $rule_no, unit_no
FROM (
    SELECT unit_no, CASE WHEN $is_first THEN arg_min(n, rank) ELSE arg_max(n, rank) END AS n
    FROM audit_lines
    WHERE scope_no = $scope_no AND executed
    GROUP BY unit_no, line_no
)
WHERE n NOT IN (
    SELECT n FROM audit_hits
    WHERE sure AND matcher_no IN (SELECT unnest($matchers::INTEGER[]))
);
