"""Scores and findings in the store, the views people ask, and traces read back by what they are."""

from __future__ import annotations

import pytest

from tests.support.spans import TRACE_ID, open_span, span, span_id
from tests.support.stores import empty_store, ingest, select
from trajscope.errors import SpanError
from trajscope.model.reading import (
    NOT_UNDERSTOOD,
    Reading,
    StepType,
    ToolRequest,
    Usage,
)
from trajscope.model.score import Finding, Score, Severity, Verdict
from trajscope.store import Record, Store

FINDING = Finding(
    rule="blacklist",
    message='it\'s "bad"',
    severity=Severity.WARNING,
    verdict=Verdict.UNKNOWN,
    trace_id=TRACE_ID,
    span_ids=("b", "a"),
    steps=("x", "x"),
)
SCORE = Score(
    scorer="blacklist",
    value=0.25,
    reason="why",
    trace_id=TRACE_ID,
    expectation="no mail",
    details={"violatedTools": ["x"], "n": 1.0},
    findings=(FINDING,),
)


def step(step_type: StepType, name: str, **fields: object) -> Reading:
    return Reading(convention="t", step_type=step_type, name=name, **fields)  # type: ignore[arg-type]


def run(trace_id: str = TRACE_ID, start_ns: int = 0) -> list[Record]:
    """HTTP server > agent > (chat, search, chat, failed fetch > noise)."""
    usage = Usage(100, 20)
    chat = step(
        StepType.MODEL_GENERATION,
        "gpt",
        is_model_call=True,
        model="gpt",
        usage=usage,
        finish_reason="stop",
    )
    made = [
        (span(1, None, 0, 90, name="POST /chat", resource={"service.name": "bot"}), NOT_UNDERSTOOD),
        (
            span(2, 1, 1, 80),
            step(StepType.AGENT_RUN, "bot", agent_name="bot", agent_id="a1", session_id="s1"),
        ),
        (span(3, 2, 2, 10), chat),
        (span(4, 2, 11, 20), step(StepType.TOOL_CALL, "search", args={"q": 1}, result=["r"])),
        (span(5, 2, 21, 30), chat),
        (
            span(6, 2, 31, 40),
            step(StepType.MCP_TOOL_CALL, "fetch", args={}, failed=True, failure="boom"),
        ),
        (span(7, 6, 32, 39, name="GET"), NOT_UNDERSTOOD),
    ]
    return [
        (
            type(s)(
                **{
                    **{f: getattr(s, f) for f in s.__struct_fields__},
                    "trace_id": trace_id,
                    "start_ns": (s.start_ns or 0) + start_ns,
                    "end_ns": (s.end_ns or 0) + start_ns,
                }
            ),
            r,
        )
        for s, r in made
    ]


def test_a_score_comes_back_with_its_findings() -> None:
    unknown = Score(scorer="efficiency", value=None, reason="tokens unknown", trace_id=TRACE_ID)
    with Store.open() as store:
        store.save_scores([SCORE, unknown])
        assert store.scores() == [SCORE, unknown]
        assert store.scores([TRACE_ID, "other"]) == [SCORE, unknown]
        assert store.scores(["other"]) == []
        assert select(store, "SELECT value FROM scores WHERE scorer = 'efficiency'") == [
            {"value": None}
        ]


def test_what_is_known_of_the_scorer_comes_back() -> None:
    by_whom = {
        "scorer_version": "1.2",
        "parameters": {"limit": 3, "names": ["a"]},
        "expectation_hash": "ab12",
        "error_type": "ValueError",
    }
    known = SCORE.model_copy(update=by_whom)
    with Store.open() as store:
        store.save_scores([known])
        (found,) = store.scores()
        assert found == known
        assert found.model_dump().items() >= by_whom.items()
        store.save_scores([SCORE])
        (found,) = store.scores()
        assert "scorer_version" not in found.model_dump()


def test_a_backend_is_told_the_judged_span_and_the_first_witness() -> None:
    of_all = SCORE.model_copy(update={"trace_id": None, "scorer": "of all", "findings": ()})
    with Store.open() as store:
        ingest(store, run())
        store.save_scores([SCORE, of_all])
        told = store.to_tell([TRACE_ID])
        assert [t.span_id for t in told] == [span_id(1), *(f.span_ids[0] for f in SCORE.findings)]
        assert store.to_tell(["other"]) == []
        (session,) = store.to_tell(None)
        assert session.span_id is None


def test_a_confirmation_is_of_one_backend_and_needs_no_second() -> None:
    with Store.open() as store:
        store.save_exports("here", ["a", "b"])
        store.save_exports("here", ["b", "c"])
        assert store.known_exports("here", ["a", "c", "d"]) == {"a", "c"}
        assert store.known_exports("there", ["a"]) == set()


def test_a_score_takes_the_place_of_the_one_before() -> None:
    better = SCORE.model_copy(update={"value": 1.0, "findings": ()})
    elsewhere = SCORE.model_copy(update={"expectation": None})
    with Store.open() as store:
        store.save_scores([SCORE, elsewhere])
        store.save_scores([better])
        assert sorted(s.value or 0 for s in store.scores()) == [0.25, 1.0]
        assert store.findings() == [FINDING]


def test_a_score_of_several_traces_keeps_findings_of_each() -> None:
    other = FINDING.model_copy(update={"trace_id": "other"})
    score = SCORE.model_copy(update={"trace_id": None, "findings": (FINDING, other)})
    with Store.open() as store:
        store.save_scores([score])
        assert store.scores() == [score]
        assert store.findings(["other"]) == [other]


def test_findings_of_rules_take_the_place_of_the_same_rule_in_the_same_trace() -> None:
    elsewhere = FINDING.model_copy(update={"trace_id": "other"})
    now = FINDING.model_copy(update={"message": "now"})
    with Store.open() as store:
        store.save_findings([FINDING, FINDING, elsewhere])
        store.save_findings([now])
        assert sorted(f.message for f in store.findings()) == sorted([FINDING.message, "now"])
        store.save_scores([SCORE])
        store.save_findings([])
        assert len(store.findings()) == 3


def test_scores_go_when_their_trace_changes_and_only_then() -> None:
    far = FINDING.model_copy(update={"trace_id": "far"})
    untouched = SCORE.model_copy(update={"trace_id": "far", "findings": (far,)})
    witness_here = SCORE.model_copy(update={"trace_id": "other"})
    of_all = SCORE.model_copy(update={"trace_id": None, "findings": (far,)})
    with Store.open() as store:
        ingest(store, run(), "first")
        store.save_scores([SCORE, untouched, witness_here, of_all])
        store.save_findings([FINDING, far])
        ingest(store, run(), "the same again")
        assert (len(store.scores()), len(store.findings())) == (4, 6)
        ingest(store, [(span(9, 2, 50, 60), NOT_UNDERSTOOD)], "late")
        assert store.scores() == [untouched]
        assert store.findings() == [far, far]  # of the score, and of the rule


def test_a_trace_in_one_row() -> None:
    with Store.open() as store:
        ingest(store, run())
        (trace,) = select(store, "SELECT * EXCLUDE (start_time) FROM traces")
    assert trace == {
        "trace_id": TRACE_ID,
        "session_id": "s1",
        "duration_ms": 90 / 1e6,
        "root_name": "POST /chat",
        "service_name": "bot",
        "status_code": "UNSET",
        "agents": ["bot"],
        "span_count": 7,
        "noise_span_count": 2,
        "steps": 5,
        "tool_calls": 2,
        "failed_tool_calls": 1,
        "model_calls": 2,
        "input_tokens": 200,
        "output_tokens": 40,
        "total_tokens": 240,
        "tokens_complete": True,
        "roots": 1,
        "orphans": 0,
        "missing_parents": 0,
    }


def test_the_views_people_ask() -> None:
    with Store.open() as store:
        ingest(store, run())
        calls = select(store, "SELECT tool, success, failure, agent FROM tool_calls ORDER BY ord")
        failed = select(store, "SELECT span_id, tool FROM failed_tool_calls")
        generations = select(
            store, "SELECT model, total_tokens, finish_reason, agent FROM model_calls"
        )
        (agent,) = select(store, "SELECT * EXCLUDE (start_time, trace_id, span_id) FROM agents")
        tokens = select(store, "FROM tokens_by_model")
    assert calls == [
        {"tool": "search", "success": True, "failure": None, "agent": "bot"},
        {"tool": "fetch", "success": False, "failure": "boom", "agent": "bot"},
    ]
    assert failed == [{"span_id": span_id(6), "tool": "fetch"}]
    assert (
        generations
        == [{"model": "gpt", "total_tokens": 120, "finish_reason": "stop", "agent": "bot"}] * 2
    )
    assert agent == {
        "agent": "bot",
        "failed": None,
        "tool_calls": 2,
        "failed_tool_calls": 1,
        "model_calls": 2,
        "input_tokens": 200,
        "output_tokens": 40,
        "duration_ms": 79 / 1e6,
        "session_id": "s1",
    }
    assert tokens == [
        {
            "model": "gpt",
            "model_calls": 2,
            "input_tokens": 200,
            "output_tokens": 40,
            "total_tokens": 240,
            "generations_without_tokens": 0,
        }
    ]


def test_spans_under_the_names_of_others() -> None:
    with Store.open() as store:
        ingest(store, run())
        otel = select(store, 'SELECT "SpanId", "ParentSpanId", "Duration" FROM otel_traces')
        kinds = select(store, "SELECT type, count(*) AS n FROM observations GROUP BY type")
        records = select(
            store, "SELECT span_name, duration FROM records WHERE parent_span_id IS NULL"
        )
    assert otel[0] == {"SpanId": span_id(1), "ParentSpanId": "", "Duration": 90}
    assert {row["type"]: row["n"] for row in kinds} == {
        "SPAN": 2,
        "AGENT": 1,
        "GENERATION": 2,
        "TOOL": 2,
    }
    assert records == [{"span_name": "POST /chat", "duration": 90 / 1e9}]


def test_unknown_is_neither_zero_nor_failed() -> None:
    unended = open_span(1, None, 5)
    with Store.open() as store:
        ingest(
            store,
            [
                (unended, step(StepType.TOOL_CALL, "slow")),
                (span(2, None, 6, 7), step(StepType.MODEL_GENERATION, "m", is_model_call=True)),
            ],
        )
        (call,) = select(store, "SELECT success, args, result, duration_ms FROM tool_calls")
        (trace,) = select(store, "SELECT input_tokens, total_tokens, tokens_complete FROM traces")
    assert call == {"success": None, "args": None, "result": None, "duration_ms": None}
    assert trace == {"input_tokens": None, "total_tokens": None, "tokens_complete": False}


def test_a_call_that_never_ran_is_a_step_of_the_call_that_asked() -> None:
    asks = step(
        StepType.MODEL_GENERATION,
        "m",
        is_model_call=True,
        requests=(ToolRequest("search", "c1", {"q": 1}),),
    )
    with Store.open() as store:
        ingest(store, [(span(1), asks)])
        (call,) = select(
            store,
            "SELECT span_id, step_id, parent_step_id, executed, success, args FROM steps "
            "WHERE step_type = 'tool_call'",
        )
    assert call == {
        "span_id": span_id(1),
        "step_id": f"{span_id(1)}#c1",
        "parent_step_id": span_id(1),
        "executed": False,
        "success": None,
        "args": '{"q":1}',
    }


def test_a_trace_that_is_not_there() -> None:
    with Store.open() as store, pytest.raises(SpanError) as caught:
        store.spans_of("no' such")
    assert "trajscope list" in str(caught.value)


def test_traces_are_found_by_what_they_are() -> None:
    with Store.open() as store:
        ingest(store, run("late", 2_000), "one")
        ingest(store, [*run("early", 1_000), (span(1, trace_id="plain"), NOT_UNDERSTOOD)], "two")
        assert store.trace_ids() == ["plain", "early", "late"]
        assert store.trace_ids(most=1) == ["plain"]
        assert store.trace_ids(["late", "early", "none"]) == ["early", "late"]
        assert store.trace_ids(session_id="s1") == ["early", "late"]
        assert store.trace_ids(agent="bot", since_ns=1_500) == ["late"]
        assert store.trace_ids(until_ns=2_000) == ["plain", "early"]
        assert store.trace_ids(service="bot") == ["early", "late"]
        assert store.trace_ids(root_name="POST /chat", until_ns=2_000) == ["early"]
        assert store.trace_ids(root_name="GET") == []


def test_traces_come_whole_and_in_order_whatever_lies_between() -> None:
    """Spans of many traces, shuffled into each other, read back in small chunks."""
    records = [
        (span(n, None, start_ns=n, trace_id=f"t{n % 9}"), NOT_UNDERSTOOD) for n in range(300)
    ]
    with Store.open() as store:
        for number in range(3):
            ingest(store, records[number::3], f"capture {number}")
        found = [(trace_id, len(spans)) for trace_id, spans in store.iter_traces()]
        assert [trace_id for trace_id, _ in found] == [f"t{n}" for n in range(9)]
        assert sum(count for _, count in found) == 300
        listed = store.iter_traces(["t5", "t3", "none"])
        assert [trace_id for trace_id, _ in listed] == ["t3", "t5"]


def test_the_store_can_be_used_between_two_traces() -> None:
    with Store.open() as store:
        ingest(store, [*run("a"), *run("b")])
        for trace_id, spans in store.iter_traces():
            assert len(store.spans_of(trace_id)) == len(spans) == 7
            assert store.trace_ids(most=1) == ["a"]


def test_scores_of_sessions_stand_beside_each_other() -> None:
    first = Score(scorer="s", value=0.0, session_id="a", findings=(Finding(rule="r", message="m"),))
    second = Score(scorer="s", value=1.0, session_id="b")
    with empty_store() as store:
        store.save_scores([first])
        store.save_scores([second])
        assert sorted(store.scores(), key=lambda s: str(s.session_id)) == [first, second]
        again = first.model_copy(update={"value": 0.5, "findings": ()})
        store.save_scores([again])
        found = {score.session_id: score for score in store.scores()}
        assert found == {"a": again, "b": second}
        assert store.findings() == []
