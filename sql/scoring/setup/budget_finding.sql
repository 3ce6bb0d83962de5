-- The finding of a budget that is exceeded or undecided, else NULL. figure, most_text: as text.
CREATE MACRO budget_finding(label, most, score, figure, most_text, complete, trace_id, roots) AS CASE
    WHEN most IS NULL OR score = 1 THEN NULL
    WHEN score IS NULL THEN finding(
        'efficiency', label || ' budget: not evaluable, what it needs was not recorded',
        'warning', 'unknown', trace_id, []::VARCHAR[], []::VARCHAR[]
    )
    ELSE finding(
        'efficiency',
        label || ' budget exceeded: ' || CASE WHEN complete THEN '' ELSE 'at least ' END
            || figure || ', at most ' || most_text || ' allowed',
        'error', 'violated', trace_id, roots, []::VARCHAR[]
    )
END;
