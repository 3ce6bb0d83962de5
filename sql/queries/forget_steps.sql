-- Forget the steps of the touched traces; they are derived again.
DELETE FROM steps WHERE trace_id IN (SELECT trace_id FROM touched);
