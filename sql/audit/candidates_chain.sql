-- Where a forbidden sequence may be whole. Parameters: rule_no.
INSERT INTO audit_candidates SELECT DISTINCT $rule_no, unit_no FROM audit_chain;
