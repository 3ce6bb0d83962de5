-- Hang every span below its parent, if the parent is another span of the trace.
INSERT INTO edges
SELECT
    child.n,
    child.trace_no,
    parent.n,
    child.is_kept,
    coalesce(child.parent_span_id = child.span_id, false),
    child.parent_span_id IS NOT NULL
        AND child.parent_span_id <> child.span_id
        AND parent.n IS NULL
FROM nodes child
LEFT JOIN nodes parent
    ON parent.trace_no = child.trace_no
    AND parent.span_id = child.parent_span_id
    AND parent.n <> child.n;
