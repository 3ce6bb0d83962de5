-- Ranges of the numbers of traces, in order. What a trace adds to a range is its steps, once for every
-- expectation it is held against. Parameters: size (of a range; a larger trace has one of its own).
WITH held AS (SELECT t, count(*) AS times FROM judged GROUP BY t),
steps_of AS (SELECT t, count(*) AS size FROM judged_steps GROUP BY t),
summed AS (
    SELECT t, sum((1 + coalesce(size, 0)) * times) OVER (ORDER BY t) AS so_far
    FROM held
    LEFT JOIN steps_of USING (t)
)
SELECT min(t), max(t) FROM summed GROUP BY so_far // $size ORDER BY 1;
