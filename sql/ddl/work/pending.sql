-- The log records of calls whose place is looked for again, in groups that do not meet.
CREATE TEMP TABLE pending (row_no BIGINT, standin_trace_id VARCHAR, tool_call_id VARCHAR, part BIGINT);
