-- What the store holds, counted.
SELECT
    (SELECT count(DISTINCT trace_id) FROM spans) AS traces,
    (SELECT count(*) FROM spans) AS spans,
    (SELECT count(*) FROM steps) AS steps,
    (SELECT count(*) FROM repairs) AS repairs,
    (SELECT count(*) FROM scores) AS scores,
    (SELECT count(*) FROM findings) AS findings,
    (SELECT count(*) FROM captures) AS captures,
    (SELECT count(*) FROM log_records) AS log_records;
