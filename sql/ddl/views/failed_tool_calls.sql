CREATE VIEW failed_tool_calls AS
SELECT * FROM tool_calls WHERE success = false;
COMMENT ON VIEW failed_tool_calls IS 'Tool calls that are known to have failed.';
