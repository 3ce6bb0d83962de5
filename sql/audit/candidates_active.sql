-- Whatever is activated must be looked at. Parameters: rule_no.
INSERT INTO audit_candidates
SELECT DISTINCT rule_no, unit_no
FROM audit_active
WHERE rule_no = $rule_no;
