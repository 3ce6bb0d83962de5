-- Take the spans that Python ranks out of the set-based ranking. Parameters: rows.
DELETE FROM losers WHERE row_no IN (SELECT unnest($rows::BIGINT[]));
