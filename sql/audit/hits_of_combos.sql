-- The steps that matchers mean, by combination. Reads: incoming (matcher_no, combo_no, sure).
INSERT INTO audit_hits
SELECT incoming.matcher_no, step.n, incoming.sure
FROM incoming
JOIN audit_combos combo USING (combo_no)
JOIN audit_steps step
    ON step.kind_no = combo.kind_no
    AND step.agent IS NOT DISTINCT FROM combo.agent
    AND step.executed = combo.executed
    AND step.success IS NOT DISTINCT FROM combo.success
    AND step.failed IS NOT DISTINCT FROM combo.failed
    AND (step.start_ns IS NULL) = combo.startless
    AND (step.end_ns IS NULL) = combo.endless;
