-- Every combination of what matchers ask of a step but for its arguments and result.
CREATE OR REPLACE TABLE audit_combos AS
SELECT row_number() OVER ()::INTEGER AS combo_no, *
FROM (
    SELECT DISTINCT
        kind_no, agent, executed, success, failed,
        start_ns IS NULL AS startless, end_ns IS NULL AS endless
    FROM audit_steps
);
