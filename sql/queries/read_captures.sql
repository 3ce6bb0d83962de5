-- The captures in the order they were ingested.
SELECT
    capture_no, capture_id, name, format, ingested_at, span_count, added_count, duplicate_count,
    skipped, problem_count, problems, dropped_attributes, log_count
FROM captures
ORDER BY capture_no;
