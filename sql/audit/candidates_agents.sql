-- Traces in which one agent may have called another. Parameters: rule_no, scope_no.
INSERT INTO audit_candidates
SELECT DISTINCT $rule_no, unit_no
FROM audit_lines
JOIN audit_steps USING (n)
WHERE scope_no = $scope_no
    AND (step_type = 'handoff'
        OR step_type = 'agent_run' AND (agent IS NOT NULL OR agent_span_id IS NOT NULL));
