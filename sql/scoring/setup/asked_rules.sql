-- What expectations forbid: single names and sequences of names, in order. places: the steps whose
-- names count (all, top, tools); lines: the lines of steps a sequence may stand in.
CREATE TABLE asked_rules (
    e INTEGER,
    rule INTEGER,
    is_sequence BOOLEAN,
    texts VARCHAR[],
    size INTEGER,
    places VARCHAR,
    lines VARCHAR
);
