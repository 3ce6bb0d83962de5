-- Never vacuous. Parameters: rule_no, sessions (whether the rule looks at sessions).
INSERT INTO audit_active
SELECT DISTINCT $rule_no, CASE WHEN $sessions THEN session_no ELSE trace_no END
FROM audit_traces;
