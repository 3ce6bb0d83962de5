-- Traces (or sessions) that a query has named. Parameters: rule_no, trace_ids, sessions.
INSERT INTO audit_candidates
SELECT DISTINCT $rule_no, CASE WHEN $sessions THEN session_no ELSE trace_no END
FROM audit_traces
WHERE trace_id IN (SELECT unnest($trace_ids::VARCHAR[]));
