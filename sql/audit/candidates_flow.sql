-- Lines in which a value may have flowed: a source and a target after it. Parameters: rule_no,
-- scope_no, sources, targets (matchers), by_end.
INSERT INTO audit_candidates
SELECT DISTINCT $rule_no, target.unit_no
FROM (
    SELECT unit_no, line_no, max(rank) AS rank
    FROM audit_lines
    JOIN audit_hits USING (n)
    WHERE scope_no = $scope_no AND matcher_no IN (SELECT unnest($targets::INTEGER[]))
    GROUP BY ALL
) target
JOIN (
    SELECT line_no, min(CASE WHEN $by_end THEN over ELSE rank + 1 END) AS over
    FROM audit_lines
    JOIN audit_hits USING (n)
    WHERE scope_no = $scope_no AND matcher_no IN (SELECT unnest($sources::INTEGER[]))
    GROUP BY ALL
) source USING (line_no)
WHERE target.rank >= source.over;
