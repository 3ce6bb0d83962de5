-- Lines in which a step does not surely occur often enough; also where there is no line at all.
-- Parameters: rule_no, scope_no, matcher, min_count, sessions.
INSERT INTO audit_candidates
SELECT DISTINCT $rule_no, unit_no
FROM (SELECT DISTINCT unit_no, line_no FROM audit_lines WHERE scope_no = $scope_no) line
WHERE (
    SELECT count(*)
    FROM audit_lines
    JOIN audit_hits USING (n)
    WHERE scope_no = $scope_no AND matcher_no = $matcher AND sure
        AND audit_lines.line_no = line.line_no
) < $min_count
UNION
SELECT DISTINCT $rule_no, CASE WHEN $sessions THEN session_no ELSE trace_no END AS unit_no
FROM audit_traces
WHERE unit_no NOT IN (SELECT unit_no FROM audit_lines WHERE scope_no = $scope_no);
