-- The version of the schema and the program that wrote it.
SELECT version, created_by FROM schema_info;
