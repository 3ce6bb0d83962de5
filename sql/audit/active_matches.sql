-- Activated by a step that one of the matchers means. Parameters: rule_no, scope_no, matchers.
INSERT INTO audit_active
SELECT DISTINCT $rule_no, unit_no
FROM audit_lines
JOIN audit_hits USING (n)
WHERE scope_no = $scope_no AND matcher_no IN (SELECT unnest($matchers::INTEGER[]));
