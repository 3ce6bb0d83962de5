-- Put records of one trace into one part.
UPDATE pending SET part = least_part
FROM (SELECT standin_trace_id, min(part) AS least_part FROM pending GROUP BY standin_trace_id) first
WHERE first.standin_trace_id = pending.standin_trace_id AND first.least_part < pending.part;
