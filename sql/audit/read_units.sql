-- The traces of every trace number or session number. Parameters: sessions.
SELECT CASE WHEN $sessions THEN session_no ELSE trace_no END, trace_id
FROM audit_traces
ORDER BY trace_no;
