-- The number of the next capture.
SELECT coalesce(max(capture_no), 0) + 1 FROM captures;
