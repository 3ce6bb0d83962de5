"""Set-based scorers say what the definition says, field by field: generated and real traces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.spans import span
from tests.support.spans import spans as spans_of_traces
from tests.support.stores import empty_store, ingest, readings
from tests.support.trajectories import expectations
from trajscope.assemble import join_logs
from trajscope.conventions import Reader
from trajscope.errors import UsageError
from trajscope.model.expectation import ExpectedStep, NamedExpectation, Selector, TimeRange
from trajscope.model.expectation import TrajectoryExpectation as Expectation
from trajscope.model.reading import Reading, StepType
from trajscope.model.score import Score
from trajscope.model.span import Span
from trajscope.pipeline.engine import SetScoring, choose_engine
from trajscope.pipeline.load import InputOptions, facts, records, stored
from trajscope.pipeline.scoring import Judged, Scoring, chosen_scorers
from trajscope.ports import SetScorer
from trajscope.scorers.trajectory import TrajectoryScorer
from trajscope.store import Record, Store

TRACES = Path(__file__).parents[2] / "fixtures" / "traces"
NAMES = (
    "search",
    "fetch",
    "mcp__web__get",
    "web.get",
    "boss",
    "helper",
    "m",
    "*",
    "re:se.+",
    "none",
)
SCOPES = (None, "auto", "tools", "tree", "top", "agent", "session")
SET_WISE = [s for s in chosen_scorers([]) if isinstance(s, SetScorer)]

names = st.sampled_from(NAMES)


@st.composite
def expected_steps(draw: st.DrawFn) -> ExpectedStep:
    fields: dict[str, Any] = {"name": draw(names)}
    if draw(st.booleans()):
        fields["step_type"] = draw(st.sampled_from([None, "tool_call", "agent_run"]))
    if draw(st.booleans()) and fields.get("step_type") != "agent_run":
        fields["tool_args"] = draw(st.sampled_from([None, {}, {"q": 1.0}, {"q": 1, "ctx": 2}]))
        fields["args_mode"] = draw(st.sampled_from([None, "exact", "subset", "superset", "ignore"]))
    if draw(st.integers(0, 5)) == 0 and fields.get("step_type") != "agent_run":
        fields["success"] = draw(st.booleans())
    if draw(st.integers(0, 9)) == 0:
        below = Expectation(blacklisted_tools=("search",), max_steps=1)
        if draw(st.booleans()):
            below = Expectation(steps=(ExpectedStep(name=draw(names), children=below),))
        fields["children"] = below
    return ExpectedStep(**fields)


limits = st.sampled_from([0, 1, 3, 2.5, 50, 1e-5, 1e9])
asking = expectations(names, expected_steps(), limits, (None, "subset"))


@st.composite
def trees(draw: st.DrawFn) -> list[Record]:
    """Traces that are whole but for an open span or a second root here and there."""
    found: list[Record] = []
    for trace in range(draw(st.integers(1, 2))):
        size = draw(st.integers(1, 14))
        for n in range(1, size + 1):
            start = draw(st.integers(0, 30))
            is_root = n == 1 or draw(st.integers(0, 19)) == 0
            parent = None if is_root else draw(st.integers(1, n - 1))
            end = draw(st.sampled_from([None, start, start + 1, start + 3, start + 40, start - 1]))
            found.append(
                (
                    span(n, parent, start, end, trace_id=f"{trace + 1:032x}"),
                    draw(readings()),
                )
            )
    return found


def some_records() -> st.SearchStrategy[list[Record]]:
    wild = spans_of_traces(traces=3, max_size=25, rich=False).flatmap(_read)
    return st.one_of(trees(), trees(), wild)


def _read(found: list[Span]) -> st.SearchStrategy[list[Record]]:
    keys = list({(s.trace_id, s.span_id) for s in found})
    drawn = st.lists(readings(), min_size=len(keys), max_size=len(keys))
    return drawn.map(
        lambda each: [(s, dict(zip(keys, each, strict=True))[s.trace_id, s.span_id]) for s in found]
    )


def by_definition(store: Store, asked: Sequence[NamedExpectation], *, named: bool) -> list[Score]:
    scoring = Scoring(asked, SET_WISE, named=named)
    return list(scoring.run(Judged(a.trajectory, facts(a)) for a in stored(store)))


def plain(score: Score) -> dict[str, Any]:
    """Every field of a score and of its findings, those with their default value too."""
    values = {name: getattr(score, name) for name in type(score).model_fields}
    values["findings"] = [
        {name: getattr(finding, name) for name in type(finding).model_fields}
        for finding in score.findings
    ]
    return values


def assert_same(store: Store, asked: Sequence[NamedExpectation], *, named: bool) -> None:
    with SetScoring(store, asked, SET_WISE, named=named) as scoring:
        found = list(scoring.scores())
        summary = scoring.summary()
    expected = by_definition(store, asked, named=named)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert plain(ours) == plain(theirs)
    assert summary.scores == len(expected)
    assert summary.evaluated == sum(score.value is not None for score in expected)


def as_named(asked: Sequence[Expectation]) -> list[NamedExpectation]:
    return [NamedExpectation(name=f"e{n}", expect=expect) for n, expect in enumerate(asked)]


@settings(
    max_examples=6,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(some_records(), st.lists(asking, max_size=5), st.booleans())
def test_both_engines_agree(generated: list[Record], asked: list[Expectation], named: bool) -> None:
    with empty_store() as store:
        ingest(store, generated)
        assert_same(store, as_named(asked), named=named)


def test_a_definition_that_crashes_costs_the_scores_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def crash(*_given: object) -> Score:
        raise RecursionError("too deep")

    monkeypatch.setattr(TrajectoryScorer, "score", crash)
    below = ExpectedStep(name="*", children=Expectation(max_steps=1))
    asked = as_named([Expectation(steps=(below,)), Expectation(max_steps=1)])
    with empty_store() as store:
        ingest(store, [(span(1), Reading(convention="t", step_type=StepType.AGENT_RUN, name="a"))])
        with SetScoring(store, asked, SET_WISE, named=True) as scoring:
            found = list(scoring.scores())
    crashed = [score for score in found if "RecursionError: too deep" in score.reason]
    assert [(score.scorer, score.expectation) for score in crashed] == [("trajectory", "e0")]
    assert crashed[0].value is None
    assert len(found) == 2 * len(SET_WISE)


def real_expectations() -> list[Expectation]:
    """Expectations of every scope over names that recorded traces have."""
    tools = ("*search*", "re:.*(weather|booking).*", "get_*", "transfer_to_*")
    steps = (ExpectedStep(name="*search*"), ExpectedStep(name="get_*"), ExpectedStep(name="re:b.*"))
    return [
        Expectation(
            steps=steps[: n % 4],
            ordering=("relaxed", "strict", "unordered")[n % 3],
            allow_repeated_steps=n % 2 == 0,
            max_steps=n,
            max_total_tokens=1000 * n,
            max_total_duration_ms=700.5 * n,
            no_redundant_calls=(None, True, False)[n % 3],
            blacklisted_tools=tools[: n % 5],
            blacklisted_sequences=(("*", "*"), ("*search*", "*"), ("get_*",)),
            max_retries_per_tool=n % 3,
            scope=scope,
        )
        for n, scope in enumerate(SCOPES)
    ]


def test_both_engines_agree_on_every_recorded_trace() -> None:
    options, read = InputOptions(), Reader()
    captures = sorted(str(path) for path in TRACES.iterdir() if path.is_dir())
    found = list(records(captures, options))
    spans = join_logs(
        [record for record in found if isinstance(record, Span)],
        [record for record in found if not isinstance(record, Span)],
        read,
    )
    with empty_store() as store:
        ingest(store, [(span, read(span)) for span in spans])
        assert_same(store, as_named(real_expectations()[1:5]), named=True)
        assert_same(store, [], named=False)


@pytest.mark.parametrize("steps", [1, 40, 100_000])
def test_traces_are_judged_in_parts_of_any_size(
    steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trajscope.store.scoring.PART_STEPS", steps)
    called = [
        (
            span(n + 1, trace_id=f"{t:032x}", start_ns=10 * t + n),
            Reading(convention="t", step_type=StepType.TOOL_CALL, name=NAMES[(t + n) % 2]),
        )
        for t in range(30)
        for n in range(t % 5)
    ]
    with empty_store() as store:
        ingest(store, called)
        assert_same(store, as_named(real_expectations()), named=True)
        with SetScoring(store, [], SET_WISE, named=False) as scoring:
            parts = scoring._tables.parts()
    held = [t for first, last in parts for t in range(first, last + 1)]
    assert held == list(range(24))
    assert (len(parts) > 1) == (steps < len(called))


def test_selectors_choose_the_same_traces() -> None:
    given_records = [
        (
            span(n, None, n, n + 1, trace_id=f"{n:032x}", attributes={"k": n}, name=f"root {n}"),
            Reading(convention="t", step_type=StepType.AGENT_RUN, name=f"a{n}", agent_name=f"a{n}"),
        )
        for n in range(1, 6)
    ]
    ids = [f"{n:032x}" for n in range(1, 6)]
    selects = [
        Selector(trace_id=ids[1]),
        Selector(trace_id=(ids[2].upper(), "0*4")),
        Selector(agent="a[12]"),
        Selector(root_name="root 3"),
        Selector(attributes={"k": 4.0}),
        Selector(time=TimeRange(since=2, until=4)),
        Selector(session_id="none"),
        Selector(service="none"),
    ]
    asked = [
        NamedExpectation(name=f"e{n}", select=select, expect=Expectation(max_steps=0))
        for n, select in enumerate(selects)
    ]
    with empty_store() as store:
        ingest(store, given_records)
        assert_same(store, asked, named=False)
        with SetScoring(store, asked, SET_WISE, named=False) as scoring:
            assert scoring.unmatched() == ["e6", "e7"]


def test_scores_are_kept_and_replaced_as_those_of_the_definition_are() -> None:
    given_records = [(span(1), Reading(convention="t", step_type=StepType.TOOL_CALL, name="a"))]
    asked = as_named([Expectation(blacklisted_tools=("a",))])
    with empty_store() as store:
        ingest(store, given_records)
        store.save_scores(by_definition(store, asked, named=True))
        kept = store.scores()
        with SetScoring(store, asked, SET_WISE, named=True) as scoring:
            scoring.save()
            scoring.save()
        assert store.scores() == kept
        assert len(store.findings()) == sum(len(score.findings) for score in kept)


def test_odd_traces_are_judged_with_their_session_alone_where_only_sessions_are_asked() -> None:
    called = Reading(convention="t", step_type=StepType.TOOL_CALL, name="a", session_id="s")
    root, orphan = span(1), span(2, 9)
    asked = as_named([Expectation(blacklisted_tools=("a",), scope="session")])
    with empty_store() as store:
        ingest(store, [(root, called), (orphan, called)])
        assert_same(store, asked, named=True)


def test_an_engine_is_chosen_where_every_scorer_has_it() -> None:
    accuracy = chosen_scorers(["accuracy"])
    assert choose_engine("auto", SET_WISE, in_store=True)
    assert not choose_engine("auto", SET_WISE, in_store=False)
    assert not choose_engine("python", SET_WISE, in_store=True)
    assert not choose_engine("auto", [*SET_WISE, *accuracy], in_store=True)
    with pytest.raises(UsageError, match="no set-based form of scorer accuracy"):
        choose_engine("sql", accuracy, in_store=True)
    with pytest.raises(UsageError, match="scores a store"):
        choose_engine("sql", SET_WISE, in_store=False)
