-- Add the records that Python ranked behind another. Parameters: rows.
INSERT INTO losers SELECT row_no, capture_no FROM versions
WHERE row_no IN (SELECT unnest($rows::BIGINT[]));
