"""`doctor`: what was understood, what evidence is missing, and what to switch on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from tests.cli.conftest import TRACES, Trajscope
from tests.support.plain import PLAIN, write_otlp
from tests.support.spans import open_span, span, spans
from tests.support.stores import ingest
from tests.support.truth import FORMS, spans_of
from trajscope.assemble import assemble_traces
from trajscope.conventions import Reader, conventions
from trajscope.model.reading import NOT_UNDERSTOOD
from trajscope.model.span import Span
from trajscope.pipeline.doctor import LACKS, Coverage, coverage_of, examine
from trajscope.pipeline.load import InputOptions
from trajscope.ports import Hinting
from trajscope.store import Store


def covered(records: list[Span]) -> Coverage:
    return coverage_of(assemble_traces(records, Reader()))


def check(found: Coverage) -> None:
    """Hold what is true of every coverage: each span in one place, nothing missing of nothing."""
    known = sum(u.types.total() for u in found.by_convention.values())
    assert known == found.understood
    assert known + sum(u.spans for u in found.unknown.values()) == found.spans
    for understanding in found.by_convention.values():
        for lack, (whole, hint, _) in LACKS.items():
            assert 0 <= understanding.counts[lack] <= understanding.counts[whole]
            if hint in understanding.hints:
                assert any(LACKS[missing][1] == hint for missing in understanding.lacks())


@settings(max_examples=50)
@given(spans(rich=True, traces=2))
def test_every_span_is_counted_once(drawn: list[Span]) -> None:
    found = covered(drawn)
    check(found)
    assert found.spans == len({(s.trace_id, s.span_id) for s in drawn})


@pytest.mark.parametrize("chosen", [[], [0], [1, 0, 1]])
def test_a_store_tells_how_far_it_is_until_all_is_examined(
    tmp_path: Path, chosen: list[int]
) -> None:
    db = tmp_path / "s.duckdb"
    with Store.open(db) as store:
        records = [span(1, trace_id=f"{n:032x}") for n in (1, 2, 3)]
        ingest(store, [(record, NOT_UNDERSTOOD) for record in records])
    ids = [records[n].trace_id for n in chosen]
    told: list[tuple[int, int]] = []
    found = examine(ids, InputOptions(), str(db), lambda done, every: told.append((done, every)))
    every = len(set(ids)) or 3
    assert told == [(done, every) for done in range(1, every + 1)]
    assert found.traces == every


@pytest.mark.parametrize("form", FORMS)
def test_every_recorded_trace_is_covered(form: str) -> None:
    check(covered(list(spans_of(form))))


def by_name(document: Any) -> dict[str, Any]:
    return {c["name"]: c for c in document["conventions"]}


def test_spans_by_convention_and_type(trajscope: Trajscope) -> None:
    path = TRACES / "pydantic_ai_v5-err" / "trace.otlp.json"
    found = trajscope("doctor", path, "--json").json
    assert (found["traces"], found["understood"] == found["spans"]) == (1, True)
    assert by_name(found)["pydantic-ai"]["types"] == {
        "model_generation": 3,
        "tool_call": 2,
        "agent_run": 1,
    }
    assert not any(by_name(found)["pydantic-ai"]["missing"].values())
    assert found["not_understood"] == []
    assert "missing evidence: none" in trajscope("doctor", path).out


@pytest.mark.parametrize(
    ("form", "convention", "missing", "said"),
    [
        ("google_adk-err", "google-adk", "without_arguments", "ADK_CAPTURE_MESSAGE_CONTENT"),
        ("pydantic_ai1x_v1-nocontent", "pydantic-ai", "without_arguments", "include_content"),
        ("vercel_ai6-nocontent", "vercel-ai", "without_arguments", "recordInputs"),
        ("crewai_oi-twoagents", "crewai", "without_model_calls", "model client"),
        ("dspy_oi-err", "dspy", "without_token_counts", "litellm"),
        ("mcp_mcp2-client", "mcp", "unknown_outcome", "instrument the server"),
    ],
)
def test_missing_evidence_comes_with_what_to_switch_on(
    trajscope: Trajscope, form: str, convention: str, missing: str, said: str
) -> None:
    path = TRACES / form / "trace.otlp.json"
    found = by_name(trajscope("doctor", path, "--json").json)[convention]
    whole = LACKS[missing][0]
    assert 0 < found["missing"][missing] <= found[whole]
    assert said in " ".join(found["hints"].values())
    text = trajscope("doctor", path).out
    assert LACKS[missing][2] in text
    assert said in text


def test_evidence_that_is_there_brings_no_hint(trajscope: Trajscope) -> None:
    path = TRACES / "google_adk_content-handoff" / "trace.otlp.json"
    assert by_name(trajscope("doctor", path, "--json").json)["google-adk"]["hints"] == {}


def test_a_call_that_could_have_no_result_lacks_none() -> None:
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}
    asked = (
        '[{"role": "assistant", "parts": '
        '[{"type": "tool_call", "id": "c", "name": "u", "arguments": {}}]}]'
    )
    model = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": asked}
    found = covered(
        [
            span(1, None, 1, 9, attributes=tool),  # it ended well and says nothing: this one lacks
            span(2, None, 1, 9, attributes=tool, status_code="ERROR"),  # its failure is its answer
            open_span(3, None, 1, attributes=tool),
            span(4, None, 1, 9, attributes=model),  # the call it asks for was never seen to run
        ]
    )
    assert found.requested == 1
    counts = found.by_convention["genai"].counts
    assert (counts["tool_calls"], counts["without_result"]) == (4, 1)
    assert (counts["without_arguments"], counts["unknown_outcome"]) == (3, 2)


def test_every_hint_is_for_something_that_can_be_missing() -> None:
    kinds = {hint for _, hint, _ in LACKS.values()}
    hinting = [c for c in conventions().values() if isinstance(c, Hinting)]
    assert {h for c in hinting for h in c.hints} == kinds
    assert all(text.strip() for c in hinting for text in c.hints.values())


def test_unknown_vocabularies_by_scope_with_their_prefixes(
    trajscope: Trajscope, tmp_path: Path
) -> None:
    records = [
        span(1, name="op one", scope_name="acme-sdk", attributes={"acme.op.kind": 1, "acme.id": 2}),
        span(2, name="op two", scope_name="acme-sdk", attributes={"acme.op.name": 1, "plain": 2}),
        span(3, name="GET", scope_name="http", attributes=PLAIN["http-client"]),
        span(4, attributes={"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "t"}),
    ]
    path = write_otlp(tmp_path / "t.json", records)
    ran = trajscope("doctor", path, "--json")
    assert ran.code == 0
    assert (ran.json["spans"], ran.json["understood"]) == (4, 1)
    acme, http = ran.json["not_understood"]
    assert acme == {
        "scope": "acme-sdk",
        "spans": 2,
        "attribute_prefixes": {"acme.op": 2, "acme.id": 1, "plain": 1},
        "example": "op one",
    }
    assert "http.request" in http["attribute_prefixes"]
    assert "acme-sdk: acme.op, acme.id, plain; like 'op one'" in trajscope("doctor", path).out


def test_what_is_odd_about_the_trees(trajscope: Trajscope, tmp_path: Path) -> None:
    records = [
        span(1, None, 10_000_000, 20_000_000),
        span(2, 1, 1, 20_000_000),  # before its parent, by more than the tolerance
        span(3, "f" * 16, 10, 5),  # an orphan that ends before it starts
        span(4, 4, 1, 2),
        open_span(5, 1, 10_000_001),
        span(6, 1, 10_000_001, 10_000_002),
        span(6, 1, 10_000_001, 10_000_002),
    ]
    path = write_otlp(tmp_path / "t.json", records)
    ran = trajscope("doctor", path, "--json")
    assert ran.json["shape"] == {
        "orphans": 1,
        "unfinished": 1,
        "repeated": 1,
        "skewed": 1,
        "negative_durations": 1,
        "cycles": 1,
    }
    assert ran.json["missing_parents"] == ["f" * 16]
    assert "parents that are not there: ffffffffffffffff" in trajscope("doctor", path).out


def test_log_records_are_counted(trajscope: Trajscope) -> None:
    found = trajscope("doctor", TRACES / "claude_code-err", "--json").json
    assert found["log_records"] > 0
    assert "log records: " in trajscope("doctor", TRACES / "claude_code-err").out


def test_a_store_is_covered_as_its_captures_are(trajscope: Trajscope, tmp_path: Path) -> None:
    paths = [TRACES / name / "trace.otlp.json" for name in ("google_adk-err", "vercel_ai6-err")]
    paths.append(TRACES / "claude_code-err" / "logs.otlp-logs.json")
    db = tmp_path / "s.duckdb"
    trajscope("ingest", *paths, "--db", db)
    here = trajscope("doctor", *paths, "--json").json
    there = trajscope("doctor", "--db", db, "--json").json
    same = (
        "traces",
        "spans",
        "understood",
        "requested_calls",
        "conventions",
        "shape",
        "log_records",
    )
    assert {k: here[k] for k in same} == {k: there[k] for k in same}
    assert there["log_records"] > 0


def test_nothing_understood_exits_with_5(trajscope: Trajscope, tmp_path: Path) -> None:
    path = write_otlp(tmp_path / "t.json", [span(1, attributes=PLAIN["sql"])])
    ran = trajscope("doctor", path)
    assert ran.code == 5
    assert "no span was understood" in ran.err
    assert trajscope("doctor").code == 2
