-- Delete some spans. Parameters: rows.
DELETE FROM spans WHERE rowid IN (SELECT unnest($rows::BIGINT[]));
