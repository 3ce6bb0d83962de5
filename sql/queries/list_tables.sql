-- Tables and views of the opened file, ours or not.
SELECT table_name FROM information_schema.tables
WHERE table_catalog = current_catalog();
