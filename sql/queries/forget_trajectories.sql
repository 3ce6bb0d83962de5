-- Forget what is known of the touched traces as a whole; it is derived again.
DELETE FROM trajectories WHERE trace_id IN (SELECT trace_id FROM touched);
