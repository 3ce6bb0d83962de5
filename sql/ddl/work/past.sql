-- What versions of spans that go told and the kept ones may not: records concerned them.
CREATE TEMP TABLE past (session_id VARCHAR, tool_call_id VARCHAR);
