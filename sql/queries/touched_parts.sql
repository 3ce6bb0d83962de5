-- How many traces were touched, and in how many parts they are derived.
SELECT count(*), coalesce(max(part) + 1, 0)::BIGINT FROM touched;
