-- Every name a step of the scored traces has. A step that is no tool also goes by its label and its
-- id. tool_no: equal for the names of one tool. text_no: name_no of the first row of the same name.
-- shown, quoted: the name as messages and as JSON quote it.
CREATE TABLE judged_names (
    name_no INTEGER,
    is_tool BOOLEAN,
    name VARCHAR,
    mcp_server VARCHAR,
    label VARCHAR,
    id VARCHAR,
    tool_no INTEGER,
    text_no INTEGER,
    shown VARCHAR,
    quoted VARCHAR
);
