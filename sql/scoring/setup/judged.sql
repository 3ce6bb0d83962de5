-- Which traces are held against which expectation.
CREATE TABLE judged (e INTEGER, t INTEGER);
