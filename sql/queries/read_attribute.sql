-- The values one attribute has on the spans of each trace, and on their resources.
-- Parameters: path.
SELECT trace_id, value
FROM (
    SELECT trace_id, attributes->$path AS value FROM spans
    UNION
    SELECT trace_id, resource_attributes->$path FROM spans
)
WHERE value IS NOT NULL;
