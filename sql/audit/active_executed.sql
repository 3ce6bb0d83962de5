-- Activated by any executed counting step. Parameters: rule_no, scope_no.
INSERT INTO audit_active
SELECT DISTINCT $rule_no, unit_no
FROM audit_lines
WHERE scope_no = $scope_no AND executed;
