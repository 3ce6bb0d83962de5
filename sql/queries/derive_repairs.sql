-- Keep what was assumed to place the spans of the part. The wording is that of the tree.
-- skew_tolerance_ns: how far a child may start before its parent without being called skewed.
INSERT INTO repairs
SELECT trace_id, span_id, 'self_parent_broken', 'named itself as its parent'
FROM nodes JOIN edges USING (n)
WHERE names_itself
UNION ALL
SELECT
    trace_id,
    span_id,
    'cycle_broken',
    format('was its own ancestor in a cycle of {} spans; its parent was {}', size, parent_span_id)
FROM nodes JOIN cycles USING (n)
UNION ALL
SELECT trace_id, span_id, 'orphan', format('parent {} is not in the trace', parent_span_id)
FROM nodes JOIN edges USING (n)
WHERE is_orphan
UNION ALL
SELECT
    trace_id,
    span_id,
    'negative_duration',
    format(
        'ended {} before it started; its duration is unknown',
        ns_text(epoch_ns(start_time)::HUGEINT - epoch_ns(end_time))
    )
FROM nodes
WHERE end_time < start_time
UNION ALL
SELECT
    child.trace_id,
    child.span_id,
    'clock_skew',
    format(
        'started {} before its parent {}; times are kept',
        ns_text(epoch_ns(parent.start_time)::HUGEINT - epoch_ns(child.start_time)),
        parent.span_id
    )
FROM edges
JOIN nodes child ON child.n = edges.n
JOIN nodes parent ON parent.n = edges.up
WHERE epoch_ns(parent.start_time)::HUGEINT - epoch_ns(child.start_time) > $skew_tolerance_ns;
