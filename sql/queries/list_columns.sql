-- Tables and views of the opened file, ours or not, each with its columns; ours are in schema main.
SELECT
    CASE WHEN schema_name = 'main' THEN table_name ELSE schema_name || '.' || table_name END AS name,
    list(column_name)
FROM duckdb_columns()
WHERE database_name = current_catalog() AND NOT internal
GROUP BY name;
