-- Nanoseconds to milliseconds.
CREATE MACRO ns_to_ms(ns) AS ns / 1e6;
