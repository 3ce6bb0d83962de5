-- Which names the patterns of `asked_rules` match; nth: place in the sequence, from 0.
CREATE TABLE asked_names (e INTEGER, rule INTEGER, nth INTEGER, name_no INTEGER);
