-- The traces whose steps are to be derived, cut into parts of bounded size.
CREATE TEMP TABLE touched (trace_id VARCHAR, part BIGINT);
