-- Look for no place of records that are gone.
DELETE FROM pending WHERE row_no NOT IN (SELECT rowid FROM log_records);
