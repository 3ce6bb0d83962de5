-- Delete the spans of the touched traces.
DELETE FROM spans WHERE trace_id IN (SELECT trace_id FROM touched);
