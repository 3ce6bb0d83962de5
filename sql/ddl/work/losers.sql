-- The records that go: all versions of a span but the best.
CREATE TEMP TABLE losers (row_no BIGINT, capture_no INTEGER);
