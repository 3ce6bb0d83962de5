-- The text at a path of a JSON value; NULL where there is none, or something that is no text.
CREATE MACRO text_of(value, path) AS
    CASE WHEN json_type(value, path) = 'VARCHAR' THEN json_extract_string(value, path) END;
