-- Lines in which a call may occur too often with what makes it the same call. Parameters: rule_no,
-- scope_no, matcher, times, by_args, removed (argument keys that stand for a
-- removed value). Reads: incoming (kind_no, tool_no), equal for one tool.
INSERT INTO audit_candidates
WITH
matches AS (
    SELECT unit_no, line_no, tool_no, CASE
        WHEN $by_args
            AND NOT coalesce(list_contains($removed::VARCHAR[], args_key), false)
            AND NOT regexp_full_match(coalesce(args_key, ''), '"\[REDACTED:[0-9a-f]{10}\]"')
            THEN args_key
    END AS args_key
    FROM audit_lines
    JOIN audit_hits USING (n)
    JOIN audit_steps USING (n)
    JOIN incoming USING (kind_no)
    WHERE scope_no = $scope_no AND matcher_no = $matcher
)
SELECT DISTINCT $rule_no, unit_no
FROM (
    SELECT unit_no, line_no, tool_no, args_key, count(*) AS equal
    FROM matches
    GROUP BY ALL
)
GROUP BY unit_no, line_no, tool_no
HAVING coalesce(max(equal) FILTER (args_key IS NOT NULL), 0)
    + coalesce(max(equal) FILTER (args_key IS NULL), 0) >= $times;
