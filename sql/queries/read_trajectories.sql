-- The trajectories of some traces. Parameters: trace_ids.
SELECT
    trace_id, session_id, epoch_ns(start_time), duration_ns, root_span_ids, orphans,
    missing_parents, agents, span_count, noise_span_count, model_calls, input_tokens, output_tokens,
    cached_input_tokens, tokens_complete, context_ids
FROM trajectories
WHERE trace_id IN (SELECT unnest($trace_ids::VARCHAR[]));
