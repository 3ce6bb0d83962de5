-- Forget what rules found before in traces that are audited again, and of sessions what is found
-- again. Parameters: rules, fingerprints, trace_ids (NULL: all).
DELETE FROM findings
WHERE scorer IS NULL
    AND list_contains($rules::VARCHAR[], rule)
    AND (
        $trace_ids::VARCHAR[] IS NULL
        OR list_contains($trace_ids::VARCHAR[], trace_id)
        OR trace_id IS NULL AND list_contains($fingerprints::VARCHAR[], fingerprint)
    );
