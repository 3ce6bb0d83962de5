-- Keep which spans were recorded in more than one way, or more than once in one capture. That two
-- captures overlap is no fault of a trace and leaves no repair; nor does saying it a second time.
INSERT INTO repairs
WITH merged AS (
    SELECT
        trace_id,
        span_id,
        'duplicate_merged' AS kind,
        CASE
            WHEN count(DISTINCT content) = 1 THEN 'received more than once, all alike'
            ELSE 'received in several versions; kept the most finished'
        END AS detail
    FROM versions
    GROUP BY trace_id, span_id
    HAVING count(DISTINCT content) > 1 OR count(*) > count(DISTINCT capture_no)
)
FROM merged
ANTI JOIN repairs USING (trace_id, span_id, kind, detail);
