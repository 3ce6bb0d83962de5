-- Lines with a step of either kind. Parameters: rule_no, scope_no, one, other (matchers).
INSERT INTO audit_candidates
SELECT DISTINCT $rule_no, unit_no
FROM audit_lines
JOIN audit_hits USING (n)
WHERE scope_no = $scope_no AND matcher_no IN ($one, $other)
GROUP BY unit_no, line_no
HAVING count(DISTINCT matcher_no) = 2;
