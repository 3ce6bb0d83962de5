"""Tokens and model calls: each once, parents' sums never added, unknown is not zero."""

from typing import Any

from tests.unit.assemble.readings import agent, model, noise, only, tool, used


def totals(*pairs: Any) -> tuple[int | None, int | None, int | None, bool]:
    found = only(list(pairs))
    assert found.tokens is not None
    return found.model_calls, found.tokens.input, found.tokens.output, found.tokens.complete


def test_a_parent_that_repeats_the_sum_is_not_added() -> None:
    assert totals(
        agent("run", usage=used(150, 20)),
        model("m1", "run", 1, usage=used(100, 10)),
        model("m2", "run", 2, usage=used(50, 10)),
    ) == (2, 150, 20, True)


def test_a_sum_without_calls_below_is_taken_but_the_number_of_calls_stays_unknown() -> None:
    assert totals(agent("run", usage=used(150, 20)), tool("t", "run", 1)) == (None, 150, 20, True)


def test_missing_counts_make_the_total_a_lower_bound() -> None:
    assert totals(
        agent("run"), model("m1", "run", 1, usage=used(260, 40)), model("m2", "run", 2)
    ) == (2, 260, 40, False)


def test_a_covering_sum_above_fills_what_its_calls_did_not_record() -> None:
    assert totals(
        agent("run", usage=used(500, 60)),
        model("m1", "run", 1, usage=used(260, 40)),
        model("m2", "run", 2),
    ) == (2, 500, 60, True)


def test_nothing_recorded_is_unknown_not_zero() -> None:
    assert totals(agent("run"), model("m", "run", 1)) == (1, None, None, False)


def test_an_agent_without_model_spans_has_an_unknown_number_of_calls() -> None:
    assert only([agent("run"), tool("t", "run", 1)]).model_calls is None
    assert only([tool("t")]).model_calls == 0


def test_only_the_innermost_calls_of_a_nest_count() -> None:
    assert totals(
        agent("run"),
        model("generation", "run", 1, usage=used(900, 120)),
        noise("step1", "generation", 2, is_model_call=True, usage=used(400, 50)),
        noise("step2", "generation", 3, is_model_call=True, usage=used(500, 70)),
    ) == (2, 900, 120, True)


def test_a_sub_agent_below_a_tool_below_a_generation_is_counted_beside() -> None:
    found = only(
        [
            agent("boss"),
            model("g", "boss", 1, usage=used(100, 10)),
            tool("ask", "g", 2),
            agent("helper", "ask", 3),
            model("g2", "helper", 4, usage=used(7, 3)),
        ]
    )
    assert found.model_calls == 2
    assert found.tokens is not None
    assert (found.tokens.input, found.tokens.output) == (107, 13)
    (outer,) = [s for s in found.walk() if s.span_id == "g"]
    assert outer.model_dump()["prompt_tokens"] == 100


def test_cached_input_is_a_part_of_the_input() -> None:
    found = only([model("m", usage=used(100, 10, 80))])
    assert found.tokens is not None
    assert (found.tokens.total, found.tokens.cached_input) == (110, 80)
