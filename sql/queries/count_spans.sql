-- How many spans and traces the store holds.
SELECT count(*) AS spans, count(DISTINCT trace_id) AS traces FROM spans;
