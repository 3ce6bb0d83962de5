-- The steps that matchers mean, by step. Reads: incoming (matcher_no, n, sure).
INSERT INTO audit_hits SELECT matcher_no, n, sure FROM incoming;
