-- Lines in which steps follow one another that must not. Reads: incoming (kind_no, next_no; NULL:
-- the start or the end). Parameters: rule_no, scope_no.
INSERT INTO audit_candidates
WITH
ran AS (
    SELECT unit_no, line_no, kind_no, lead(kind_no) OVER line AS next_no, lag(n) OVER line AS last_n
    FROM audit_lines
    JOIN audit_steps USING (n)
    WHERE scope_no = $scope_no AND audit_lines.executed
    WINDOW line AS (PARTITION BY line_no ORDER BY rank)
)
SELECT DISTINCT $rule_no, unit_no
FROM ran
JOIN incoming
    ON incoming.kind_no = ran.kind_no AND incoming.next_no IS NOT DISTINCT FROM ran.next_no
    OR incoming.kind_no IS NULL AND ran.last_n IS NULL AND incoming.next_no = ran.kind_no;
