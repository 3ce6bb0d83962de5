-- Note the sessions and calls of the versions that go and that an earlier capture had brought: log
-- records were placed by them. Parameters: capture_no.
INSERT INTO past
SELECT DISTINCT session_id, tool_call_id
FROM spans
WHERE rowid IN (SELECT row_no FROM losers WHERE capture_no < $capture_no)
    AND (session_id IS NOT NULL OR tool_call_id IS NOT NULL);
