-- Put records that may become one span into one part, whatever trace they name.
UPDATE pending SET part = least_part
FROM (SELECT standin_span_id, min(part) AS least_part FROM pending GROUP BY standin_span_id) first
WHERE first.standin_span_id = pending.standin_span_id AND first.least_part < pending.part;
