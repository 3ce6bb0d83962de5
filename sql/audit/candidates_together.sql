-- Sessions in which all of the steps may occur, in whatever order. Parameters: rule_no, scope_no,
-- matchers.
INSERT INTO audit_candidates
SELECT $rule_no, unit_no
FROM audit_lines
JOIN audit_hits USING (n)
WHERE scope_no = $scope_no AND matcher_no IN (SELECT unnest($matchers::INTEGER[]))
GROUP BY unit_no
HAVING count(DISTINCT matcher_no) = len(list_distinct($matchers::INTEGER[]));
