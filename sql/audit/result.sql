-- What is known of every rule and trace (or session): whether it must be looked at, whether it was
-- activated. Parameters: rule_no, sessions.
SELECT
    unit_no,
    unit_no IN (SELECT unit_no FROM audit_candidates WHERE rule_no = $rule_no),
    unit_no IN (SELECT unit_no FROM audit_active WHERE rule_no = $rule_no)
FROM (SELECT DISTINCT CASE WHEN $sessions THEN session_no ELSE trace_no END AS unit_no
    FROM audit_traces)
ORDER BY unit_no;
