"""`explain`: who claimed a span, which attribute gave what, why it is noise, why it failed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cli.conftest import TRACES, Trajscope
from tests.support.plain import write_otlp
from tests.support.spans import span, spans
from tests.support.truth import FORMS, spans_of
from trajscope.assemble import assemble_traces
from trajscope.conventions import Reader
from trajscope.model.span import Span
from trajscope.pipeline.explain import explain

ERR = TRACES / "pydantic_ai_v5-err" / "trace.otlp.json"
FAILED = "852acda6aea726d6"
READ = Reader()


def check(records: Iterable[Span]) -> None:
    """Hold what is true of every explanation: each span once, each attribute in one place."""
    found = assemble_traces(records, READ)
    for assembled, trace in zip(found, explain(found, READ), strict=True):
        own = [e for e in trace.spans if not e.row.requested]
        ids = [e.row.span.span_id for e in own]
        assert sorted(ids) == sorted(assembled.trace.forest.nodes)
        for explained in own:
            there = explained.row.span.attributes.keys()
            looked_at, unused = {*explained.looked_at}, {*explained.unused}
            assert looked_at | unused <= there
            assert looked_at & unused == set()
            assert not unused & {*explained.sources.values()}
            assert explained.row.step_type is not None or explained.row.reason
            assert [c.won for c in explained.claims] == [True, *[False] * len(explained.claims)][
                : len(explained.claims)
            ]
            assert bool(explained.claims) == bool(explained.row.reading.convention)
            assert explained.evidence


@settings(max_examples=50)
@given(spans(rich=True))
def test_every_span_is_explained_once_whatever_it_is(drawn: list[Span]) -> None:
    check(drawn)


@pytest.mark.parametrize("form", FORMS)
def test_every_recorded_span_is_explained(form: str) -> None:
    check(spans_of(form))


def one(trajscope: Trajscope, path: Path, span_id: str, *more: object) -> Any:
    (trace,) = trajscope("explain", path, span_id, "--json", *more).json["traces"]
    return trace["spans"][0]


def test_who_claimed_it_who_won_and_why(trajscope: Trajscope) -> None:
    found = one(trajscope, ERR, FAILED)
    assert found["convention"] == "pydantic-ai"
    assert found["claims"] == [
        {
            "convention": "pydantic-ai",
            "claim": 23,
            "why": "one framework inside a vocabulary; kind, name and arguments or usage are known",
            "won": True,
        },
        {
            "convention": "genai",
            "claim": 3,
            "why": "general conventions; kind, name and arguments or usage are known",
            "won": False,
        },
    ]


def test_which_attribute_gave_what_and_which_were_not_used(trajscope: Trajscope) -> None:
    found = one(trajscope, ERR, FAILED)
    assert found["sources"]["args"] == "gen_ai.tool.call.arguments"
    assert found["sources"]["name"] == "gen_ai.tool.name"
    assert found["looked_at"] == ["gen_ai.operation.name"]
    assert "pydantic_ai.tool.retry.attempt" in found["unused_attributes"]
    assert "gen_ai.tool.name" not in found["unused_attributes"]


def test_what_made_it_fail(trajscope: Trajscope) -> None:
    found = one(trajscope, ERR, FAILED)
    assert (found["failed"], found["failure_evidence"]) == (True, "span status ERROR")
    text = trajscope("explain", ERR, "--span", FAILED).out
    assert "outcome        failed: span status ERROR" in text
    assert "failure        order id must look like" in text


def test_what_did_not_make_it_fail(trajscope: Trajscope, tmp_path: Path) -> None:
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "add"}
    plain, cut = span(1, None, 1, 2, attributes=tool), span(2, None, 1, attributes=tool)
    cut = Span(**{**{f: getattr(cut, f) for f in cut.__struct_fields__}, "end_ns": None})
    said = {**tool, "gen_ai.tool.call.result": '{"isError": false}'}
    told = span(3, None, 1, 2, attributes=said)
    path = write_otlp(tmp_path / "t.json", [plain, cut, told])
    (trace,) = trajscope("explain", path, "--json").json["traces"]
    by_id = {s["span_id"]: (s["failed"], s["failure_evidence"]) for s in trace["spans"]}
    assert by_id[plain.span_id] == (False, "the span ended and nothing says that it failed")
    assert by_id[cut.span_id] == (None, "the span never ended")
    assert by_id[told.span_id] == (False, "isError in the result")


def test_why_it_is_noise_or_part_of_another_span(trajscope: Trajscope) -> None:
    path = TRACES / "openai_agents_oi-mcp" / "trace.otlp.json"
    traces = trajscope("explain", path, "--json").json["traces"]
    noise = [s for t in traces for s in t["spans"] if s["step_type"] is None]
    assert all(s["noise_reason"] for s in noise)
    reasons = {s["noise_reason"].partition(" as ")[0] for s in noise}
    assert {"same call", "a CHAIN is glue around steps"} <= reasons
    assert "noise          same call as" in trajscope("explain", path).out


def test_a_requested_call_names_the_model_call_that_asked(trajscope: Trajscope) -> None:
    path = TRACES / "langgraph_oi-unk" / "trace.otlp.json"
    (trace,) = trajscope("explain", path, "--json").json["traces"]
    (asked,) = (s for s in trace["spans"] if s["requested"])
    assert (asked["name"], asked["executed"], asked["failed"]) == ("no_such_tool", False, True)
    model = next(s for s in trace["spans"] if s["span_id"] == asked["requested_by"])
    assert model["step_type"] == "model_generation"
    assert asked["claims"] == []
    assert asked["sources"]["args"] == model["sources"]["requests"]
    assert asked["failure_evidence"] == "by its tool message, a refusal by the framework"
    out = trajscope("explain", path).out
    assert "requested call, no span of its own  tool_call no_such_tool" in out
    assert "ran            no, it was refused" in out


def test_repairs_stand_with_their_span(trajscope: Trajscope, tmp_path: Path) -> None:
    path = write_otlp(tmp_path / "t.json", [span(2, 1), span(3, 3)])
    found = trajscope("explain", path, "--json").json["traces"][0]["spans"]
    assert [[r["kind"] for r in s["repairs"]] for s in found] == [
        ["orphan"],
        ["self_parent_broken"],
    ]
    assert "repair         orphan: " in trajscope("explain", path).out


def test_a_span_nobody_understands_shows_what_it_carries(
    trajscope: Trajscope, tmp_path: Path
) -> None:
    path = write_otlp(tmp_path / "t.json", [span(1, attributes={"acme.op": "x"})])
    found = one(trajscope, path, span(1).span_id)
    assert (found["convention"], found["claims"]) == (None, [])
    assert found["unused_attributes"] == ["acme.op"]
    out = trajscope("explain", path).out
    assert "no convention understands this span" in out
    assert "not used       acme.op" in out


def test_the_store_explains_as_the_capture_does(trajscope: Trajscope, tmp_path: Path) -> None:
    db = tmp_path / "s.duckdb"
    trajscope("ingest", ERR, "--db", db)
    here = trajscope("explain", ERR, "--json").json
    trace_id = here["traces"][0]["trace_id"]
    assert trajscope("explain", trace_id, "--db", db, "--json").json == here
    assert trajscope("explain", "0" * 32, "--db", db).code == 3


def test_log_records_of_another_file_are_read_too(trajscope: Trajscope) -> None:
    folder = TRACES / "claude_code-err"
    path, logs = folder / "trace.otlp.json", folder / "logs.otlp-logs.json"

    def sources(*more: object) -> list[Any]:
        traces = trajscope("explain", path, *more, "--json").json["traces"]
        tools = [s for t in traces for s in t["spans"] if s["step_type"] == "tool_call"]
        return [s["sources"].get("args") for s in tools]

    assert sources() != sources("--with", logs)
    assert all(sources("--with", logs))


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((ERR, "no-such-span"), 3, "no span 'no-such-span' in these traces"),
        ((ERR, "a", "--span", "b"), 2, "two spans were named"),
        (("--db", "x.duckdb", "t", "--with", "y"), 2, "--with reads captures"),
        (("no-such-file",), 3, "no-such-file"),
        ((), 2, "Missing argument"),
    ],
)
def test_bad_use_is_told(
    trajscope: Trajscope, arguments: tuple[object, ...], code: int, said: str
) -> None:
    ran = trajscope("explain", *arguments)
    assert (ran.code, said in ran.err) == (code, True), ran.err


HOSTILE = "\x1b[2Kgone\u202e\n"


@settings(max_examples=20)
@given(st.sampled_from(["gen_ai.tool.name", HOSTILE]))
def test_hostile_text_reaches_no_terminal(key: str) -> None:
    from io import StringIO

    from rich.console import Console

    from trajscope.report.explain import print_explanations

    attributes = {"gen_ai.operation.name": "execute_tool", key: HOSTILE, HOSTILE: HOSTILE}
    record = span(
        HOSTILE, name=HOSTILE, attributes=attributes, status_code="ERROR", status_message=HOSTILE
    )
    out = StringIO()
    console = Console(file=out, width=10_000, markup=False, highlight=False, emoji=False)
    print_explanations(console, explain(assemble_traces([record], READ), READ))
    assert "gone" in out.getvalue()
    assert "\x1b" not in out.getvalue()
    assert "\u202e" not in out.getvalue()
