"""Traces of programs that are no agents: nothing is guessed into a step, and it is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.conftest import Trajscope
from tests.support.plain import LABELS, PLAIN, SCOPES, write_otlp
from tests.support.spans import span
from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.model.reading import NOT_UNDERSTOOD
from trajscope.model.span import Span, SpanEvent

READ = Reader()
EXCEPTION = SpanEvent("exception", 0, {"exception.type": "E", "exception.message": "tool failed"})


@st.composite
def plain_traces(draw: st.DrawFn) -> list[Span]:
    """Spans with attributes of several kinds at once, under any label, in any nesting."""
    spans = []
    for number in range(1, draw(st.integers(2, 8))):
        kinds = draw(st.lists(st.sampled_from(sorted(PLAIN)), max_size=3))
        parent = draw(st.none() | st.integers(1, 8))
        spans.append(
            span(
                number,
                parent if parent != number else None,
                number,
                number + 5,
                name=draw(st.sampled_from(LABELS)),
                scope_name=draw(st.sampled_from(SCOPES)),
                kind=draw(st.sampled_from(["SERVER", "CLIENT", "INTERNAL", "PRODUCER"])),
                status_code=draw(st.sampled_from(["UNSET", "OK", "ERROR"])),
                attributes={k: v for kind in kinds for k, v in PLAIN[kind].items()},
                events=draw(st.sampled_from([(), (EXCEPTION,)])),
            )
        )
    return spans


@settings(max_examples=50)
@given(plain_traces())
def test_no_plain_span_is_ever_a_step(spans: list[Span]) -> None:
    for trajectory in assemble(spans, READ):
        assert list(trajectory.walk()) == []
        assert trajectory.noise_span_count == trajectory.span_count
        assert trajectory.agents == ()
        assert trajectory.tokens is None or trajectory.tokens.total is None


@pytest.mark.parametrize("kind", PLAIN)
def test_no_convention_claims_it(kind: str) -> None:
    for label in LABELS:
        for scope in SCOPES:
            plain = span(1, name=label, scope_name=scope, attributes=PLAIN[kind])
            assert READ.claims(plain) == [], (label, scope)
            assert READ(plain) == NOT_UNDERSTOOD


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    spans = [
        span(n, 1 if n > 1 else None, n, 99, name=kind, scope_name="web", attributes=PLAIN[kind])
        for n, kind in enumerate(PLAIN, start=1)
    ]
    return write_otlp(tmp_path / "plain.json", spans)


SAID = f"no agent steps: none of {len(PLAIN)} spans belongs to a vocabulary trajscope knows"


@pytest.mark.parametrize("command", ["list", "show", "tree", "explain"])
def test_every_command_says_that_there_are_no_steps(
    trajscope: Trajscope, plain: Path, tmp_path: Path, command: str
) -> None:
    db = tmp_path / "plain.duckdb"
    assert trajscope("ingest", plain, "--db", db).code == 0
    (trace,) = trajscope("list", "--db", db, "--json").json["traces"]
    stored = ["--db", db, *([trace["trace_id"]] if command == "explain" else [])]
    for source in ([plain], stored):
        for flags in ([], ["--json"]):
            ran = trajscope(command, *source, *flags)
            assert ran.code == 0
            assert SAID in ran.err


def test_show_counts_them_as_noise_alone(trajscope: Trajscope, plain: Path) -> None:
    (trace,) = trajscope("show", plain, "--json").json["traces"]
    assert trace["noise_spans"] == trace["spans"] == len(PLAIN)
    assert trace["tool_calls"] == trace["agents"] == []
    assert trace["tokens"]["total"] is None


def test_score_evaluates_nothing_and_says_so(trajscope: Trajscope, plain: Path) -> None:
    ran = trajscope("score", plain, "--scorer", "tool-failures")
    assert ran.code == 5
    assert SAID in ran.err


def test_a_store_of_them_holds_no_steps(trajscope: Trajscope, plain: Path, tmp_path: Path) -> None:
    db = tmp_path / "plain.duckdb"
    assert trajscope("ingest", plain, "--db", db).code == 0
    count = trajscope("query", "select count(*) as n from steps", "--db", db, "--json").json
    assert count == [{"n": 0}]
    assert trajscope("doctor", "--db", db).code == 5
