-- Lines in which a step occurs, or may occur, more often than allowed. Parameters: rule_no,
-- scope_no, matcher, max_count.
INSERT INTO audit_candidates
SELECT DISTINCT $rule_no, unit_no
FROM audit_lines
JOIN audit_hits USING (n)
WHERE scope_no = $scope_no AND matcher_no = $matcher
GROUP BY unit_no, line_no
HAVING count(*) > $max_count;
