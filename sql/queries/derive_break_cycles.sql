-- Make the earliest span of each cycle a root; the rest of the cycle hangs below it.
UPDATE edges SET up = NULL WHERE n IN (SELECT n FROM cycles);
