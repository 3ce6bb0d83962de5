-- The unified score of every trace out of its parts, which were scored before: accuracy (the
-- comparison), efficiency, tool failures, blacklist. Expectations below steps are left out here.
-- The definition is scorers/_unified.py; a property test holds both equal, field by field.
-- Parameters: accuracy, efficiency, tool_failures, blacklist (their weights); expectations (the
-- numbers of those to score); first, last (the numbers of the traces to score: its joins carry
-- whole details, and those of all traces at once do not fit in memory).
INSERT INTO scored
WITH held AS (
    SELECT * FROM scored WHERE t BETWEEN $first AND $last
),
parts AS (
    SELECT
        judged.e,
        judged.t,
        accuracy.value AS accuracy_value,
        accuracy.reason AS accuracy_reason,
        accuracy.details AS accuracy_details,
        efficiency.value AS efficiency_value,
        efficiency.reason AS efficiency_reason,
        efficiency.details AS efficiency_details,
        failures.value AS failures_value,
        failures.reason AS failures_reason,
        failures.details AS failures_details,
        blacklist.value AS blacklist_value,
        blacklist.reason AS blacklist_reason,
        blacklist.details AS blacklist_details,
        asks_comparison,
        asks_efficiency,
        asks_blacklist,
        -- Failures weigh where there are any, or where nothing else was asked for.
        len(json_extract(failures.details, '$.patterns[*]')) > 0
            OR NOT (asks_comparison OR asks_efficiency OR asks_blacklist) AS asks_failures,
        coalesce(blacklist.findings, []) || coalesce(accuracy.findings, [])
            || coalesce(efficiency.findings, []) || failures.findings AS findings
    FROM judged
    JOIN asked USING (e)
    JOIN held failures
        ON failures.scorer = 'tool-failures' AND failures.e = judged.e AND failures.t = judged.t
    LEFT JOIN held accuracy
        ON asks_comparison AND accuracy.scorer = 'comparison'
        AND accuracy.e = judged.e AND accuracy.t = judged.t
    LEFT JOIN held efficiency
        ON asks_efficiency AND efficiency.scorer = 'efficiency'
        AND efficiency.e = judged.e AND efficiency.t = judged.t
    LEFT JOIN held blacklist
        ON asks_blacklist AND blacklist.scorer = 'blacklist'
        AND blacklist.e = judged.e AND blacklist.t = judged.t
    WHERE judged.e IN (SELECT unnest($expectations::INTEGER[])) AND judged.t BETWEEN $first AND $last
),
weighed AS (
    SELECT
        *,
        CASE WHEN accuracy_value IS NOT NULL THEN $accuracy::DOUBLE END AS accuracy_weight,
        CASE WHEN efficiency_value IS NOT NULL THEN $efficiency::DOUBLE END AS efficiency_weight,
        CASE WHEN asks_failures AND failures_value IS NOT NULL
            THEN $tool_failures::DOUBLE END AS failures_weight,
        CASE WHEN blacklist_value IS NOT NULL THEN $blacklist::DOUBLE END AS blacklist_weight,
        coalesce(accuracy_weight, 0) + coalesce(efficiency_weight, 0)
            + coalesce(failures_weight, 0) + coalesce(blacklist_weight, 0) AS total,
        CASE
            WHEN blacklist_value = 0 THEN 0
            WHEN total > 0 THEN (
                coalesce(accuracy_weight * accuracy_value, 0)
                + coalesce(efficiency_weight * efficiency_value, 0)
                + coalesce(failures_weight * failures_value, 0)
                + coalesce(blacklist_weight * blacklist_value, 0)
            ) / total
        END AS value
    FROM parts
),
said AS (
    SELECT
        *,
        CASE WHEN blacklist_value = 0 THEN blacklist_reason ELSE concat_ws(
            '; ',
            format('accuracy {:.2f}: ', accuracy_value) || accuracy_reason,
            format('efficiency {:.2f}: ', efficiency_value) || efficiency_reason,
            CASE WHEN failures_weight IS NOT NULL
                THEN format('tool_failures {:.2f}: ', failures_value) || failures_reason END,
            format('blacklist {:.2f}: ', blacklist_value) || blacklist_reason,
            CASE WHEN asks_comparison AND accuracy_value IS NULL
                THEN 'accuracy not evaluable: ' || accuracy_reason END,
            CASE WHEN asks_efficiency AND efficiency_value IS NULL
                THEN 'efficiency not evaluable: ' || efficiency_reason END,
            CASE WHEN asks_blacklist AND blacklist_value IS NULL
                THEN 'blacklist not evaluable: ' || blacklist_reason END,
            CASE WHEN asks_failures AND failures_value IS NULL
                THEN 'tool_failures not evaluable: ' || failures_reason END
        ) END AS reason
    FROM weighed
)
SELECT
    'trajectory',
    e,
    t,
    value,
    reason,
    '{' || concat_ws(
        ',',
        '"score":' || coalesce(to_json(value)::VARCHAR, 'null'),
        '"nested":[]',
        '"weights":{' || concat_ws(
            ',',
            '"accuracy":' || accuracy_weight,
            '"efficiency":' || efficiency_weight,
            '"tool_failures":' || failures_weight,
            '"blacklist":' || blacklist_weight
        ) || '}',
        '"notEvaluated":{' || concat_ws(
            ',',
            CASE WHEN asks_comparison AND accuracy_value IS NULL
                THEN '"accuracy":' || json_quote(accuracy_reason) END,
            CASE WHEN asks_efficiency AND efficiency_value IS NULL
                THEN '"efficiency":' || json_quote(efficiency_reason) END,
            CASE WHEN asks_blacklist AND blacklist_value IS NULL
                THEN '"blacklist":' || json_quote(blacklist_reason) END,
            CASE WHEN asks_failures AND failures_value IS NULL
                THEN '"tool_failures":' || json_quote(failures_reason) END
        ) || '}',
        '"reason":' || json_quote(reason),
        '"accuracy":' || accuracy_details,
        '"efficiency":' || efficiency_details,
        '"blacklist":' || blacklist_details,
        '"toolFailures":' || failures_details
    ) || '}',
    CASE WHEN len(findings) < 2 THEN findings ELSE list_filter(
        findings, lambda found, place: list_position(findings, found) = place
    ) END
FROM said;
