-- Traces in the order of their first span, of a session, agent, service, root or time if given.
-- Parameters: trace_ids, session_id, agent, service, root_name, since_ns, until_ns, most; NULL each
-- for no limit.
SELECT trace_id
FROM trajectories t
WHERE ($trace_ids::VARCHAR[] IS NULL OR trace_id IN (SELECT unnest($trace_ids::VARCHAR[])))
    AND ($session_id::VARCHAR IS NULL OR session_id = $session_id)
    AND ($agent::VARCHAR IS NULL OR list_contains(agents, $agent))
    AND ($since_ns::BIGINT IS NULL OR epoch_ns(start_time) >= $since_ns)
    AND ($until_ns::BIGINT IS NULL OR epoch_ns(start_time) < $until_ns)
    AND (
        $service::VARCHAR IS NULL
        OR trace_id IN (SELECT trace_id FROM spans WHERE service_name = $service)
    )
    AND (
        $root_name::VARCHAR IS NULL
        OR EXISTS (
            FROM spans
            WHERE spans.trace_id = t.trace_id
                AND name = $root_name
                AND list_contains(t.root_span_ids, span_id)
        )
    )
ORDER BY start_time NULLS LAST, trace_id
LIMIT coalesce($most::BIGINT, 9223372036854775807);
