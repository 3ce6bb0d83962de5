-- Give log records of a capture that is known by content to its first number. Parameters:
-- capture_no, to.
UPDATE log_records SET capture_no = $to WHERE capture_no = $capture_no;
