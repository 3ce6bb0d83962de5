-- The parts and how many records they hold.
SELECT part, count(*) FROM pending GROUP BY part ORDER BY part;
