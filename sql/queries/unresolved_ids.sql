-- The traces of the part that Python resolves.
SELECT trace_id FROM unresolved ORDER BY trace_id;
