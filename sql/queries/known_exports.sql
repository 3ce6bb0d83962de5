-- Which of some scores and findings a backend has confirmed. Parameters: target, key_hashes.
SELECT key_hash
FROM exports
WHERE target = $target AND key_hash IN (SELECT unnest($key_hashes::VARCHAR[]));
