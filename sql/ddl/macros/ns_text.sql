-- A span of time for people, as the tree writes it: six digits at most.
CREATE MACRO ns_text(ns) AS format('{:g} ms', ns / 1e6);
