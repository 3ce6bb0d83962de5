-- Tables and views with their comments, and their columns. Work tables are not shown.
SELECT
    c.table_name,
    CASE WHEN t.table_name IS NULL THEN 'view' ELSE 'table' END AS kind,
    coalesce(t.comment, v.comment, '') AS table_comment,
    c.column_name,
    c.data_type,
    coalesce(c.comment, '') AS column_comment
FROM duckdb_columns() c
LEFT JOIN duckdb_tables() t
    ON t.table_oid = c.table_oid AND t.database_name = c.database_name
LEFT JOIN duckdb_views() v
    ON v.view_oid = c.table_oid AND v.database_name = c.database_name
WHERE c.database_name = current_database() AND c.schema_name = 'main' AND NOT c.internal
ORDER BY kind, c.table_name, c.column_index;
