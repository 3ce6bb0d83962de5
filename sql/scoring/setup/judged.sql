-- Which traces are held against which expectation.
CREATE TEMP TABLE judged (e INTEGER, t INTEGER);
