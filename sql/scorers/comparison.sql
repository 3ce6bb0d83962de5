-- The steps that a scope holds of every trace, in its order: what the comparison is about. Which
-- steps are expected ones the definition decides, once per variant (pipeline/comparing.py).
-- span_text: the span as a line of the alignment tells it.
-- Parameters: scope (tools, tree, top); with_args (whether arguments are asked for); first, last
-- (numbers of traces).
SELECT
    step.t,
    name_no,
    recorded.step_type,
    recorded.span_id,
    CASE WHEN recorded.span_id <> '' THEN ',"spanId":' || to_json(recorded.span_id) ELSE '' END
        AS span_text,
    step.success,
    step.args_key,
    CASE WHEN $with_args THEN recorded.args END AS args
FROM judged_steps step
JOIN judged_traces USING (t)
JOIN steps recorded ON recorded.rowid = row_no
WHERE step.executed AND NOT is_odd AND step.t BETWEEN $first AND $last AND CASE $scope
    WHEN 'tools' THEN is_tool
    WHEN 'top' THEN step.depth = top_depth
    ELSE true
END
ORDER BY step.t, CASE WHEN $scope = 'tools' THEN step.ord ELSE step.lft END;
