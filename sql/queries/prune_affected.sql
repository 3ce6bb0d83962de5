-- The traces that stay but learned something from a trace that goes: what became of their calls.
SELECT trace_id
FROM trajectories
WHERE trace_id NOT IN (FROM (SELECT trace_id FROM touched))
    AND EXISTS (
        FROM touched WHERE list_contains(trajectories.context_ids, touched.trace_id)
    )
ORDER BY trace_id;
