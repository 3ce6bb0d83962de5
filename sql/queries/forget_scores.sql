-- Forget the scores of the touched traces: they judge trajectories that are no more.
DELETE FROM scores WHERE trace_id IN (SELECT trace_id FROM touched);
