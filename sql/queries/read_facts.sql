-- What selectors may ask of traces. Parameters: trace_ids (NULL: all), services (whether they are
-- asked for).
WITH
chosen AS (
    SELECT *
    FROM trajectories
    WHERE $trace_ids IS NULL OR trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
),
roots AS (
    SELECT trace_id, list(DISTINCT spans.name) AS names
    FROM spans
    JOIN (SELECT trace_id, unnest(root_span_ids) AS span_id FROM chosen) USING (trace_id, span_id)
    GROUP BY trace_id
),
tops AS (
    SELECT trace_id, list(steps.name) || list(steps.label) AS names
    FROM steps
    JOIN chosen USING (trace_id)
    WHERE depth = 0 AND (len(root_span_ids) = 0 OR list_contains(root_span_ids, span_id))
    GROUP BY trace_id
),
services AS (
    SELECT trace_id, list(DISTINCT service_name) AS names
    FROM spans
    WHERE $services AND service_name IS NOT NULL
    GROUP BY trace_id
)
SELECT
    trace_id,
    chosen.session_id,
    chosen.agents,
    list_distinct(coalesce(roots.names, []) || coalesce(tops.names, [])),
    coalesce(services.names, []),
    epoch_ns(chosen.start_time)
FROM chosen
LEFT JOIN roots USING (trace_id)
LEFT JOIN tops USING (trace_id)
LEFT JOIN services USING (trace_id)
ORDER BY chosen.start_time NULLS LAST, trace_id;
