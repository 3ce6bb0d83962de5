-- How many records were repeats, and how many of them were replaced by the capture's. Parameters:
-- capture_no.
SELECT count(*), count(*) FILTER (capture_no < $capture_no) FROM losers;
