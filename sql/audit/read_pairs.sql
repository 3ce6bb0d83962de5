-- Which kinds of executed steps follow one another in lines; NULL at either end. Parameters:
-- scope_no.
SELECT DISTINCT kind_no, lead(kind_no) OVER line
FROM audit_lines
JOIN audit_steps USING (n)
WHERE scope_no = $scope_no AND audit_lines.executed
WINDOW line AS (PARTITION BY line_no ORDER BY rank)
UNION
SELECT NULL, arg_min(kind_no, rank)
FROM audit_lines
JOIN audit_steps USING (n)
WHERE scope_no = $scope_no AND audit_lines.executed
GROUP BY line_no;
