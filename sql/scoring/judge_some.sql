-- Hold some traces against some expectations. incoming: pairs of their numbers.
INSERT INTO judged
SELECT e, t FROM incoming JOIN judged_traces USING (t) WHERE NOT is_odd;
