-- The log records of calls whose place may differ now: those of a capture, and those that name or
-- have joined a changed trace, or that name a call or session of one, also as its spans were before;
-- a call only where the record names no trace, for it can be no other trace's. Parameters: capture_no.
INSERT INTO pending
SELECT rowid, standin_trace_id, standin_span_id, tool_call_id, trace_id, rowid
FROM log_records
WHERE standin_span_id IS NOT NULL
    AND (
        capture_no = $capture_no
        OR trace_id IN (FROM changed)
        OR standin_trace_id IN (FROM changed)
        OR joined_trace_id IN (FROM changed)
        OR trace_id IS NULL
            AND tool_call_id IN (
                SELECT tool_call_id FROM spans WHERE trace_id IN (FROM changed)
                UNION ALL
                SELECT tool_call_id FROM past
            )
        OR session_id IN (
            SELECT session_id FROM spans WHERE trace_id IN (FROM changed)
            UNION ALL
            SELECT session_id FROM past
        )
    );
