-- Whether any log record is an event of a span.
SELECT EXISTS (FROM log_records WHERE role = 'event');
