-- Steps that are no executed tool calls, in walking order: what a missing step may be taken for.
-- Parameters: names (the numbers of the names that count); first, last (numbers of traces).
SELECT step.t, name_no, recorded.step_type, step.executed
FROM judged_steps step
JOIN steps recorded ON recorded.rowid = row_no
WHERE (NOT is_tool OR NOT step.executed)
    AND name_no IN (SELECT unnest($names::INTEGER[]))
    AND step.t BETWEEN $first AND $last
ORDER BY step.t, step.lft;
