-- Delete the repairs of the touched traces, also of records that were merged.
DELETE FROM repairs WHERE trace_id IN (SELECT trace_id FROM touched);
