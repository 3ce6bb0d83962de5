"""What a backend can answer, and what is made of it; over real HTTP and gRPC on loopback."""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Iterator

import grpc
import pytest

from tests.support.receivers import AGAIN_AT_ONCE, Answer, Backend, grpc_backend, http_backend
from tests.support.spans import TRACE_ID, span_id
from trajscope.errors import UsageError
from trajscope.pipeline.evaluations import Evaluation
from trajscope.telemetry import OtlpSender
from trajscope.telemetry._address import Protocol

SECRET = "s3cr3t-token"
HEADERS = {"Authorization": f"Bearer {SECRET}"}
ONE = Evaluation(
    name="quality",
    value=1,
    label=None,
    explanation="why",
    error_type=None,
    trace_id=TRACE_ID,
    span_id=span_id(1),
    time_ns=1_772_528_400_000_000_001,
    attributes={"trajscope.kind": "score"},
    key="k1",
)
TWO = Evaluation(
    name="quality",
    value=None,
    label="not_evaluable",
    explanation=None,
    error_type="ValueError",
    trace_id="not hex",
    span_id="not hex either",
    time_ns=5,
    key="k2",
)


@pytest.fixture(params=["http", "grpc"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    with (http_backend if request.param == "http" else grpc_backend)() as found:
        found.url += "" if request.param == "http" else "#grpc"
        yield found


def sender(backend: Backend, timeout: float = 5) -> OtlpSender:
    url, _, protocol = backend.url.partition("#")
    kind: Protocol = "grpc" if protocol else "http"
    return OtlpSender(url, protocol=kind, headers=HEADERS, timeout_seconds=timeout)


def test_types_times_and_ids_are_exact(backend: Backend) -> None:
    with sender(backend) as way:
        assert way.send([ONE, TWO]).confirmed
    first, second = backend.events
    assert first == {
        "trace_id": TRACE_ID,
        "span_id": span_id(1),
        "event_name": "gen_ai.evaluation.result",
        "time_ns": 1_772_528_400_000_000_001,
        "severity": "INFO",
        "attributes": {
            "gen_ai.evaluation.name": "quality",
            "gen_ai.evaluation.score.value": 1.0,
            "gen_ai.evaluation.explanation": "why",
            "trajscope.kind": "score",
            "trajscope.key": "k1",
        },
        "types": {
            "gen_ai.evaluation.name": "string_value",
            "gen_ai.evaluation.score.value": "double_value",
            "gen_ai.evaluation.explanation": "string_value",
            "trajscope.kind": "string_value",
            "trajscope.key": "string_value",
        },
    }
    assert (second["trace_id"], second["span_id"]) == ("", "")
    assert second["attributes"] == {
        "gen_ai.evaluation.name": "quality",
        "gen_ai.evaluation.score.label": "not_evaluable",
        "error.type": "ValueError",
        "trajscope.key": "k2",
        "trajscope.trace_id": "not hex",
        "trajscope.span_id": "not hex either",
    }


def test_headers_are_sent(backend: Backend) -> None:
    with sender(backend) as way:
        way.send([ONE])
    assert backend.headers[0]["authorization"] == f"Bearer {SECRET}"
    assert backend.paths in ([], ["/v1/logs"])


BUSY = Answer(503, headers=AGAIN_AT_ONCE, code=grpc.StatusCode.UNAVAILABLE)


def test_a_busy_backend_is_asked_again(backend: Backend) -> None:
    backend.answers = [BUSY, BUSY]
    with sender(backend) as way:
        assert way.send([ONE]).confirmed
    assert (len(backend.requests), len(backend.events)) == (3, 1)


def test_a_backend_that_stays_busy_is_given_up_in_time(backend: Backend) -> None:
    backend.answers = [
        Answer(503, code=grpc.StatusCode.RESOURCE_EXHAUSTED, headers={"Retry-After": "3600"})
    ] * 9
    started = time.monotonic()
    with sender(backend, timeout=0.5) as way:
        delivery = way.send([ONE])
    assert time.monotonic() - started < 5
    assert (delivery.confirmed, delivery.is_down) == (False, True)
    assert "503" in str(delivery.failure) or "RESOURCE_EXHAUSTED" in str(delivery.failure)
    assert "nothing is lost" in str(delivery.hint)


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (Answer(401, code=grpc.StatusCode.UNAUTHENTICATED), "--header"),
        (Answer(403, code=grpc.StatusCode.PERMISSION_DENIED), "--header"),
        (Answer(404, code=grpc.StatusCode.UNIMPLEMENTED), "OTLP address"),
    ],
)
def test_a_wrong_door_is_told_with_a_way_out(backend: Backend, answer: Answer, hint: str) -> None:
    backend.answers = [answer]
    with sender(backend) as way:
        delivery = way.send([ONE])
    assert (delivery.confirmed, delivery.is_down) == (False, True)
    assert hint in str(delivery.hint)


def test_a_batch_that_is_refused_says_nothing_of_the_others(backend: Backend) -> None:
    backend.answers = [
        Answer(400, body=b"\x12\x0bbad request", code=grpc.StatusCode.INVALID_ARGUMENT)
    ]
    with sender(backend) as way:
        assert (way.send([ONE]).confirmed, way.send([TWO]).confirmed) == (False, True)
        backend.answers = [Answer(400, code=grpc.StatusCode.INVALID_ARGUMENT)]
        assert way.send([ONE]).is_down is False


def test_a_partial_success_is_no_whole_one(backend: Backend) -> None:
    backend.answers = [Answer(rejected=1, message="too old"), Answer(rejected=2, message="no")]
    with sender(backend) as way:
        part = way.send([ONE, TWO])
        none = way.send([ONE, TWO])
    assert (part.confirmed, part.refused) == (True, 1)
    assert "1 of 2" in str(part.failure)
    assert "too old" in str(part.failure)
    assert none.confirmed is False


def test_credentials_that_a_backend_repeats_are_covered(
    backend: Backend, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    said = f"bad token {SECRET}"
    backend.answers = [
        Answer(400, body=said.encode(), code=grpc.StatusCode.INVALID_ARGUMENT, details=said),
        Answer(code=grpc.StatusCode.PERMISSION_DENIED, details=said, status=403),
    ]
    with caplog.at_level(logging.DEBUG), sender(backend) as way:
        told = [str(way.send([ONE])) for _ in range(2)]
    assert "bad token ***" in told[0]
    assert SECRET not in "".join(told) + caplog.text + "".join(capfd.readouterr())


def test_a_redirect_is_no_success() -> None:
    with http_backend([Answer(302, headers={"Location": "https://other/v1/logs"})]) as backend:
        with sender(backend) as way:
            delivery = way.send([ONE])
        assert backend.received == []
    assert delivery.confirmed is False
    assert "https://other/v1/logs" in str(delivery.failure)


def test_a_web_page_is_no_success() -> None:
    page = Answer(200, headers={"Content-Type": "text/html"}, body=b"<!DOCTYPE html><p>Log in")
    with http_backend([page]) as backend, sender(backend) as way:
        delivery = way.send([ONE])
    assert delivery.confirmed is False
    assert "web page" in str(delivery.failure)


@pytest.mark.parametrize("body", [b"ok", b"\xff\xff", b"{}"])
def test_a_success_with_an_odd_body_is_one(body: bytes) -> None:
    with http_backend([Answer(200, body=body)]) as backend, sender(backend) as way:
        assert way.send([ONE]).confirmed


def test_a_partial_success_in_json_counts_too() -> None:
    body = json.dumps({"partialSuccess": {"rejectedLogRecords": "1", "errorMessage": "why not"}})
    answer = Answer(200, headers={"Content-Type": "application/json"}, body=body.encode())
    with http_backend([answer]) as backend, sender(backend) as way:
        delivery = way.send([ONE, TWO])
    assert (delivery.confirmed, delivery.refused) == (True, 1)


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_nobody_there_is_told_in_time(
    protocol: Protocol, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    started = time.monotonic()
    with OtlpSender(url, protocol=protocol, timeout_seconds=0.5) as way:
        delivery = way.send([ONE])
    assert time.monotonic() - started < 5
    assert (delivery.confirmed, delivery.is_down) == (False, True)
    assert "cannot be reached" in str(delivery.failure)
    assert capfd.readouterr() == ("", "")


def test_somebody_who_never_answers_is_given_up_in_time() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        started = time.monotonic()
        protocols: tuple[Protocol, ...] = ("http", "grpc")
        for protocol in protocols:
            with OtlpSender(url, protocol=protocol, timeout_seconds=0.5) as way:
                assert way.send([ONE]).is_down
        assert time.monotonic() - started < 8


def test_an_event_takes_no_parent_from_the_running_program(backend: Backend) -> None:
    from opentelemetry.sdk.trace import TracerProvider

    with TracerProvider().get_tracer("t").start_as_current_span("s"), sender(backend) as way:
        way.send([TWO])
    assert backend.events[0]["trace_id"] == ""


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_a_timeout_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(UsageError, match="--timeout"):
        OtlpSender("http://h", timeout_seconds=seconds)


def test_half_a_surrogate_pair_does_not_cost_the_explanation() -> None:
    from dataclasses import replace

    with http_backend() as backend, sender(backend) as way:
        assert way.send([replace(ONE, explanation="\ud800 broken")]).confirmed
    assert backend.events[0]["attributes"]["gen_ai.evaluation.explanation"] == "? broken"
