-- 1 within the limit, less the further beyond it; NULL when it is not known whether it is exceeded.
CREATE MACRO within_budget(figure, most, exceeded) AS CASE
    WHEN exceeded IS NULL OR figure IS NULL THEN NULL
    WHEN NOT exceeded THEN 1.0::DOUBLE
    WHEN most = 0 THEN 0.0::DOUBLE
    ELSE greatest(0.0::DOUBLE, 1 - (figure - most) / most)
END;
