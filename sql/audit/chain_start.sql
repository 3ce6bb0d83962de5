-- Where a forbidden sequence may begin. Parameters: scope_no, matcher, by_end.
CREATE OR REPLACE TABLE audit_chain AS
SELECT DISTINCT unit_no, line_no, rank, ran, CASE WHEN $by_end THEN over ELSE rank + 1 END AS over
FROM audit_lines
JOIN audit_hits USING (n)
WHERE scope_no = $scope_no AND matcher_no = $matcher;
