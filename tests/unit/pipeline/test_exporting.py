"""What is sent to a backend: everything, each once, whatever the backend does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.spans import span, span_id
from tests.support.stores import empty_store, ingest
from trajscope.errors import SpanError
from trajscope.model.reading import NOT_UNDERSTOOD
from trajscope.model.score import Finding, Score, Severity, Verdict
from trajscope.pipeline import exporting
from trajscope.pipeline.evaluations import MAX_TEXT, Evaluation, evaluations_of
from trajscope.pipeline.exporting import Delivery, export, pending
from trajscope.store import Store

TRACES = tuple(f"{n:032x}" for n in range(1, 4))


class Backend:
    """A backend that does what it is told: "ok", "down", "refuse" a batch, or "part" of one."""

    def __init__(self, target: str = "b", deeds: Sequence[str] = ()) -> None:
        self.target = target
        self.deeds = list(deeds)
        self.got: list[Evaluation] = []
        self.asked = 0

    def send(self, batch: Sequence[Evaluation]) -> Delivery:
        self.asked += 1
        deed = self.deeds.pop(0) if self.deeds else "ok"
        if deed in ("down", "refuse"):
            return Delivery(False, failure=deed, hint="again", is_down=deed == "down")
        self.got += batch
        refused = 1 if deed == "part" else 0
        return Delivery(True, refused=refused, failure="part" if refused else None)


def filled(store: Store) -> None:
    ingest(store, [(span(1, trace_id=t), NOT_UNDERSTOOD) for t in TRACES])


def a_score(
    scorer: str = "s", trace_id: str | None = TRACES[0], value: float | None = 1.0, **more: object
) -> Score:
    return Score.model_validate({"scorer": scorer, "trace_id": trace_id, "value": value, **more})


def a_finding(message: str = "m", trace_id: str | None = TRACES[0], **more: object) -> Finding:
    return Finding.model_validate(
        {"rule": "r", "message": message, "trace_id": trace_id, "span_ids": ("aa", "bb"), **more}
    )


SCORES = st.lists(
    st.builds(
        a_score,
        st.sampled_from(["a", "b"]),
        st.sampled_from([*TRACES, None]),
        st.none() | st.floats(0, 1),
        findings=st.lists(
            st.builds(a_finding, st.sampled_from("mn"), st.sampled_from([*TRACES, None])),
            max_size=2,
        ).map(tuple),
        expectation=st.sampled_from([None, "e"]),
    ),
    max_size=12,
)
DEEDS = st.lists(st.sampled_from(["ok", "down", "refuse", "part"]), max_size=6)


@settings(max_examples=15)
@given(SCORES, DEEDS, st.integers(1, 4))
def test_everything_arrives_once_whatever_fails(
    scores: list[Score], deeds: list[str], size: int
) -> None:
    backend = Backend(deeds=deeds)
    with empty_store() as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(exporting, "MAX_BATCH_EVENTS", size)
        filled(store)
        store.save_scores(scores)
        wanted = {evaluation.key for evaluation in pending(store, "b")}
        for _ in range(20):
            done = export(store, backend)
            assert done.sent + done.known + done.refused + done.left == len(wanted)
            assert done.complete or done.failure
            if not done.left:
                break
        keys = [evaluation.key for evaluation in backend.got]
        assert sorted(keys) == sorted(wanted)
        again = export(store, backend)
        assert (again.sent, again.left, again.known) == (0, 0, len(wanted))


def test_a_backend_that_is_down_is_not_asked_again() -> None:
    backend = Backend(deeds=["ok", "down"])
    with empty_store() as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(exporting, "MAX_BATCH_EVENTS", 1)
        filled(store)
        store.save_scores([a_score(f"s{n}") for n in range(9)])
        done = export(store, backend)
    assert (backend.asked, done.sent, done.left) == (2, 1, 8)
    assert (done.failure, done.hint) == ("down", "again")


def test_what_was_confirmed_before_a_crash_is_noted() -> None:
    class Crashing(Backend):
        def send(self, batch: Sequence[Evaluation]) -> Delivery:
            if self.got:
                raise KeyboardInterrupt
            return super().send(batch)

    with empty_store() as store, pytest.MonkeyPatch.context() as patch:
        patch.setattr(exporting, "MAX_BATCH_EVENTS", 1)
        filled(store)
        store.save_scores([a_score("a"), a_score("b")])
        crashing = Crashing()
        with pytest.raises(KeyboardInterrupt):
            export(store, crashing)
        rest = Backend()
        export(store, rest)
        assert {e.name for e in crashing.got} | {e.name for e in rest.got} == {"a", "b"}
        assert len(rest.got) == 1


def test_a_score_is_sent_anew_only_when_it_says_something_else() -> None:
    backend = Backend()
    with empty_store() as store:
        filled(store)
        for value, version in ((1.0, "1"), (1.0, "1"), (0.5, "1"), (0.5, "2")):
            store.save_scores([a_score(value=value, scorer_version=version)])
            export(store, backend)
    assert [e.value for e in backend.got] == [1.0, 0.5, 0.5]


def test_each_backend_gets_its_own() -> None:
    here, there = Backend("here"), Backend("there")
    with empty_store() as store:
        filled(store)
        store.save_scores([a_score()])
        export(store, here)
        export(store, there)
    assert here.got == there.got != []


def test_only_the_traces_that_were_asked_for_go() -> None:
    backend = Backend()
    with empty_store() as store:
        filled(store)
        store.save_scores([a_score(trace_id=t) for t in (*TRACES, None)])
        export(store, backend, [TRACES[1]])
        assert [e.trace_id for e in backend.got] == [TRACES[1]]
        export(store, backend)
        assert [e.trace_id for e in backend.got[1:]] == [TRACES[0], TRACES[2], None]
        with pytest.raises(SpanError, match="no trace 'other'"):
            export(store, backend, ["other"])


def test_sessions_that_are_scored_alike_are_told_one_by_one() -> None:
    backend = Backend()
    with empty_store() as store:
        filled(store)
        finding = a_finding(trace_id=None, severity="warning")
        for session in ("one", "two"):
            store.save_scores([a_score(trace_id=None, session_id=session, findings=(finding,))])
        export(store, backend)
        assert list(pending(store, "b")) == []
    said = [e.attributes.get("session.id") for e in backend.got if e.name == "s"]
    assert sorted(map(str, said)) == ["one", "two"]
    assert len([e for e in backend.got if e.name == "r"]) == 1, (
        "one claim about no trace, made twice"
    )


def test_a_claim_of_two_scorers_goes_once() -> None:
    with empty_store() as store:
        filled(store)
        for scorer in ("blacklist", "trajectory"):
            store.save_scores([a_score(scorer, findings=(a_finding(),), expectation="e")])
        found = [e for e in pending(store, "b") if e.name == "r"]
    assert len(found) == 1


def test_a_finding_is_sent_to_its_first_witness_and_a_score_to_the_root() -> None:
    failed = a_score(value=None, reason="it raised", error_type="ValueError", parameters={"n": 1})
    lonely = a_finding("no witness", span_ids=(), verdict=Verdict.UNKNOWN)
    mild = a_finding(severity=Severity.WARNING)
    with empty_store() as store:
        filled(store)
        store.save_scores([failed])
        store.save_findings([mild, lonely])
        score, first, second = pending(store, "b")
    assert (score.span_id, first.span_id, second.span_id) == (span_id(1), "aa", span_id(1))
    assert (score.value, score.label, score.error_type) == (None, "not_evaluable", "ValueError")
    assert score.attributes == {
        "trajscope.kind": "score",
        "trajscope.scorer.name": "s",
        "trajscope.scorer.version": "unknown",
        "trajscope.scorer.parameters": '{"n": 1}',
        "trajscope.expectation.name": "(none)",
    }
    assert (score.level, first.level, second.level) == ("ERROR", "WARN", "INFO")
    assert (first.label, second.label) == ("violated", "unknown")


def test_a_rule_says_which_policy_it_stood_in() -> None:
    hashes = {"policy_hash": "p1", "rule_hash": "r1", "fingerprint": "f1"}
    with empty_store() as store:
        filled(store)
        store.save_findings([a_finding(**hashes)])
        (found,) = pending(store, "b")
        store.save_findings([a_finding(**hashes | {"policy_hash": "p2"})])
        (again,) = pending(store, "b")
    assert found.attributes["trajscope.policy.hash"] == "p1"
    assert found.attributes["trajscope.scorer.version"] == "r1"
    assert found.attributes["trajscope.finding.fingerprint"] == "f1"
    assert found.key == again.key  # another rule of the file was changed


def test_a_program_and_its_store_say_the_same() -> None:
    from trajscope.model.trajectory import Trajectory

    scores = [a_score(findings=(a_finding(),), expectation="e"), a_score("t", value=None)]
    with empty_store() as store:
        filled(store)
        store.save_scores(scores)
        stored = {e.key for e in pending(store, "b")}
    trajectory = Trajectory(trace_id=TRACES[0], root_span_ids=(span_id(1),))
    assert {e.key for e in evaluations_of(scores, trajectory)} == stored


def test_long_reasons_are_cut_and_fill_batches_by_size() -> None:
    backend = Backend()
    with empty_store() as store:
        filled(store)
        reasons = ["x" * (MAX_TEXT + 5) + str(n) for n in range(60)]
        store.save_scores([a_score(f"s{n}", reason=reason) for n, reason in enumerate(reasons)])
        done = export(store, backend)
    assert (done.sent, backend.asked > 1) == (60, True)
    assert all(len(e.explanation or "") < MAX_TEXT + 40 for e in backend.got)


def test_progress_counts_traces() -> None:
    told: list[tuple[int, int]] = []
    with empty_store() as store:
        filled(store)
        export(store, Backend(), progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (3, 3)
