-- Whether the store holds log records, and whether any of them stands for a call.
SELECT count(*) > 0, count(standin_span_id) > 0 FROM log_records;
