-- Parameters: one per column.
INSERT INTO captures BY NAME
SELECT
    $capture_no AS capture_no,
    $capture_id AS capture_id,
    $name AS name,
    $format AS format,
    now() AT TIME ZONE 'UTC' AS ingested_at,
    $span_count AS span_count,
    $log_count AS log_count,
    $added_count AS added_count,
    $duplicate_count AS duplicate_count,
    $skipped AS skipped,
    $problem_count AS problem_count,
    $problems AS problems,
    $dropped_attributes::VARCHAR[] AS dropped_attributes;
