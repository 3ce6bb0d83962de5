-- The earliest span of each cycle, and how many spans the cycle has.
CREATE TEMP TABLE cycles (n BIGINT, size BIGINT);
