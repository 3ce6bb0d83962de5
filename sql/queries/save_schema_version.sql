-- Parameters: version, created_by.
INSERT INTO schema_info VALUES ($version, $created_by, now() AT TIME ZONE 'UTC');
