-- Keep one row of every log record: the one that lost the fewest attributes on the way in, else the
-- one the store had. Parameters: capture_no.
DELETE FROM log_records WHERE rowid IN (
    SELECT rowid
    FROM log_records
    WHERE record_key IN (SELECT record_key FROM log_records WHERE capture_no = $capture_no)
    QUALIFY row_number() OVER (
        PARTITION BY record_key
        ORDER BY
            coalesce((attributes->>'$."trajscope.dropped_attributes"')::BIGINT, 0),
            capture_no,
            rowid
    ) > 1
);
