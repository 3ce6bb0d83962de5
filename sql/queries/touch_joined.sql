-- Beside those touched: the traces that log records changed, those that learned from one of them
-- what became of a call or may now (of its session or, where none is named, its capture), and those
-- that are gone, of which only what was derived goes. Parameters: part_spans.
INSERT INTO touched
WITH
fresh AS (
    SELECT trace_id, session_id, answered, capture_no FROM spans WHERE trace_id IN (FROM changed)
),
others AS (
    SELECT trace_id, tool_call_id, requested
    FROM spans
    WHERE trace_id NOT IN (FROM changed)
        AND (
            capture_no IN (SELECT capture_no FROM fresh)
            OR trace_id IN (
                SELECT trace_id FROM trajectories
                WHERE session_id IN (SELECT session_id FROM fresh)
            )
        )
),
asked AS (
    SELECT trace_id, tool_call_id AS call FROM others
    UNION ALL
    SELECT trace_id, coalesce(nullif(request.call_id, ''), 'name:' || request.tool)
    FROM (SELECT trace_id, unnest(requested) AS request FROM others)
),
found AS (
    FROM changed
    UNION
    SELECT trace_id FROM asked WHERE call IN (SELECT unnest(answered) FROM fresh)
    UNION
    SELECT trace_id
    FROM trajectories
    WHERE EXISTS (FROM changed WHERE list_contains(trajectories.context_ids, changed.trace_id))
),
counted AS (
    SELECT trace_id, count(spans.trace_id) AS spans, min(spans.rowid) AS first
    FROM found
    LEFT JOIN spans USING (trace_id)
    WHERE trace_id NOT IN (SELECT trace_id FROM touched)
    GROUP BY trace_id
)
SELECT
    trace_id,
    (sum(spans) OVER (ORDER BY first, trace_id) - spans) // $part_spans
        + (SELECT coalesce(max(part) + 1, 0) FROM touched)
FROM counted;
