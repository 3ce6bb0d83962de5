-- Every trace (or session) must be looked at. Parameters: rule_no, sessions.
INSERT INTO audit_candidates
SELECT DISTINCT $rule_no, CASE WHEN $sessions THEN session_no ELSE trace_no END
FROM audit_traces;
