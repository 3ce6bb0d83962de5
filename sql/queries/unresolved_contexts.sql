-- For every call of an unresolved trace whose result no message of the trace holds: the earliest
-- later trace whose messages do, in the same session, or, where neither trace names a session, in
-- the same capture (client instrumentation writes one trace per model call).
WITH
own AS (
    SELECT
        trace_id,
        max(session_id) AS session_id,
        max(capture_no) AS capture_no,
        min(start_time) AS start_time
    FROM spans
    WHERE trace_id IN (SELECT trace_id FROM unresolved)
    GROUP BY trace_id
),
asked AS (
    SELECT trace_id, tool_call_id AS call
    FROM spans
    WHERE trace_id IN (SELECT trace_id FROM unresolved)
    UNION
    SELECT trace_id, coalesce(nullif(request.call_id, ''), 'name:' || request.tool)
    FROM (
        SELECT trace_id, unnest(requested) AS request
        FROM spans
        WHERE trace_id IN (SELECT trace_id FROM unresolved)
    )
),
still_open AS (
    SELECT trace_id, call
    FROM asked
    ANTI JOIN (SELECT trace_id, unnest(answered) AS call FROM spans) USING (trace_id, call)
    WHERE call IS NOT NULL
    UNION
    -- Of a name the trace may only hold the answers to earlier calls.
    SELECT trace_id, call FROM asked WHERE starts_with(call, 'name:')
),
answers AS (
    SELECT trace_id, call
    FROM (SELECT trace_id, unnest(answered) AS call FROM spans)
    SEMI JOIN still_open USING (call)
    GROUP BY ALL
),
answering AS (
    SELECT
        trace_id,
        max(session_id) AS session_id,
        max(capture_no) AS capture_no,
        min(start_time) AS start_time
    FROM spans
    SEMI JOIN answers USING (trace_id)
    GROUP BY trace_id
)
SELECT trace_id, list(DISTINCT context_id)
FROM (
    SELECT
        still_open.trace_id,
        still_open.call,
        arg_min(answering.trace_id, (answering.start_time, answering.trace_id)) AS context_id
    FROM still_open
    JOIN own ON own.trace_id = still_open.trace_id
    JOIN answers ON answers.call = still_open.call
    JOIN answering ON answering.trace_id = answers.trace_id
    WHERE (answering.start_time, answering.trace_id) > (own.start_time, own.trace_id)
        AND answering.session_id IS NOT DISTINCT FROM own.session_id
        AND (own.session_id IS NOT NULL OR answering.capture_no = own.capture_no)
    GROUP BY ALL
)
GROUP BY trace_id;
