-- What an audit works with, gone with its connection.
CREATE OR REPLACE TABLE audit_lines (
    scope_no INTEGER, n BIGINT, unit_no INTEGER, line_no BIGINT, rank BIGINT, ran BIGINT,
    executed BOOLEAN, start_ns BIGINT, over BIGINT, never_over BOOLEAN
);
CREATE OR REPLACE TABLE audit_hits (matcher_no INTEGER, n BIGINT, sure BOOLEAN);
CREATE OR REPLACE TABLE audit_active (rule_no INTEGER, unit_no INTEGER);
CREATE OR REPLACE TABLE audit_candidates (rule_no INTEGER, unit_no INTEGER);
