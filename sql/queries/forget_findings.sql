-- Forget the findings about the touched traces, see forget_scores.
DELETE FROM findings
WHERE trace_id IN (SELECT trace_id FROM touched)
    OR scored_trace_id IN (SELECT trace_id FROM touched);
