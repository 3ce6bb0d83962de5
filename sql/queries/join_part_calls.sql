-- Put records of one call into one part.
UPDATE pending SET part = least_part
FROM (SELECT tool_call_id, min(part) AS least_part FROM pending GROUP BY tool_call_id) first
WHERE first.tool_call_id = pending.tool_call_id AND first.least_part < pending.part;
