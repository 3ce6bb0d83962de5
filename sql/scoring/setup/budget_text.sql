-- What is to be said of a budget, NULL where there is none.
CREATE MACRO budget_text(label, most, score) AS CASE
    WHEN most IS NULL THEN NULL
    WHEN score IS NULL THEN label || ' budget: not evaluable, the figures were not all recorded'
    WHEN score = 1 THEN label || ' budget met'
    ELSE label || ' budget exceeded'
END;
