-- Traces some calls of which later traces answer, and those. Parameters: trace_ids (NULL: of all).
SELECT trace_id, context_ids
FROM trajectories
WHERE len(context_ids) > 0
    AND ($trace_ids::VARCHAR[] IS NULL OR trace_id IN (SELECT unnest($trace_ids::VARCHAR[])));
