-- How many traces were touched, in how many parts they are derived, and whether anything is to be
-- forgotten first: what was derived of them, or any judgement.
SELECT
    count(*),
    coalesce(max(part) + 1, 0)::BIGINT,
    EXISTS (FROM trajectories WHERE trace_id IN (SELECT trace_id FROM touched))
        OR EXISTS (FROM scores)
        OR EXISTS (FROM findings)
FROM touched;
