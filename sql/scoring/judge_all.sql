-- Hold every trace against these expectations. Parameters: expectations (their numbers).
INSERT INTO judged
SELECT e, t
FROM (SELECT unnest($expectations::INTEGER[]) AS e)
CROSS JOIN judged_traces
WHERE NOT is_odd;
