-- The traces an audit looks at, numbered by start; a session goes by its first trace.
-- Parameters: trace_ids (NULL: all).
CREATE OR REPLACE TABLE audit_traces AS
SELECT
    *,
    CASE WHEN session_id IS NULL THEN trace_no
        ELSE min(trace_no) OVER (PARTITION BY session_id)
    END AS session_no
FROM (
    SELECT
        row_number() OVER (ORDER BY start_time NULLS LAST, trace_id)::INTEGER AS trace_no,
        trace_id,
        session_id,
        model_calls,
        input_tokens,
        output_tokens,
        tokens_complete,
        duration_ns,
        -- No less than the definition says: any open step stands for an open root.
        len(root_span_ids) = 0 OR trace_id IN (
            SELECT trace_id FROM steps WHERE start_time IS NOT NULL AND end_time IS NULL
        ) AS unfinished
    FROM trajectories
    WHERE $trace_ids IS NULL OR trace_id IN (SELECT unnest($trace_ids::VARCHAR[]))
);
