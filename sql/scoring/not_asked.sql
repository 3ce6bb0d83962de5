-- What a scorer that was named says where it was asked nothing.
-- Parameters: scorer, reason, expectations (the numbers of those that ask it nothing).
INSERT INTO scored
SELECT $scorer, e, t, NULL, $reason, NULL, []
FROM judged
WHERE e IN (SELECT unnest($expectations::INTEGER[]));
