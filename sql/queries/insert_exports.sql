-- Note what a backend has confirmed. Parameters: target, key_hashes.
INSERT OR IGNORE INTO exports
SELECT $target, unnest($key_hashes::VARCHAR[]), now() AT TIME ZONE 'UTC';
