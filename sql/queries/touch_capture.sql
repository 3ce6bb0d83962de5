-- The traces a capture changed, and those of the same sessions that asked for a call it answers.
-- Parts follow the order of the rows, so that each reads its own stretch of the table. Parameters:
-- capture_no, part_spans.
INSERT INTO touched
WITH
fresh AS (SELECT trace_id, session_id, answered FROM spans WHERE capture_no = $capture_no),
others AS (
    SELECT trace_id
    FROM trajectories
    WHERE session_id IN (SELECT session_id FROM fresh)
        AND trace_id NOT IN (SELECT trace_id FROM fresh)
),
asked AS (
    SELECT trace_id, tool_call_id AS call FROM spans SEMI JOIN others USING (trace_id)
    UNION ALL
    SELECT trace_id, coalesce(nullif(request.call_id, ''), 'name:' || request.tool)
    FROM (
        SELECT trace_id, unnest(requested) AS request FROM spans SEMI JOIN others USING (trace_id)
    )
),
mended AS (
    SELECT DISTINCT trace_id
    FROM asked
    WHERE call IN (SELECT unnest(answered) FROM fresh)
),
counted AS (
    SELECT trace_id, count(*) AS spans, min(rowid) AS first
    FROM spans
    WHERE trace_id IN (SELECT trace_id FROM fresh UNION SELECT trace_id FROM mended)
    GROUP BY trace_id
)
SELECT trace_id, (sum(spans) OVER (ORDER BY first, trace_id) - spans) // $part_spans
FROM counted;
