"""Contracts of `trajscope export`: what goes out once, what is said, which exit code."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import TRACES, Trajscope
from tests.support.receivers import Answer, Backend, grpc_backend, http_backend
from trajscope.cli.app import run

SECRET = "s3cr3t-token"
ERR, OTHER = "pydantic_ai_v5-err", "mastra0-two"


@pytest.fixture
def backend() -> Iterator[Backend]:
    with http_backend() as found:
        yield found


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of judged traces, and the expectations."""
    folder = tmp_path_factory.mktemp("scored")
    db, expect = folder / "spans.duckdb", folder / "e.yaml"
    expect.write_text("blacklistedSequences: [[lookup_order, lookup_order]]\n")
    captures = [str(TRACES / name / "trace.otlp.json") for name in (ERR, OTHER)]
    assert run(["ingest", *captures, "--db", str(db)]) == 0
    assert run(["score", "--db", str(db), "--expect", str(expect)]) == 1
    return folder


@pytest.fixture
def store(scored: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(scored, tmp_path / "own")) / "spans.duckdb"


def test_scores_and_findings_go_out_once(
    trajscope: Trajscope, store: Path, backend: Backend
) -> None:
    first = trajscope("export", "--db", store, "--otlp", backend.url)
    assert first.code == 0
    sent = len(backend.events)
    assert f"{sent} events sent, 0 sent before, 0 left" in first.out
    assert first.out.startswith(f"{backend.url}/v1/logs: ")
    again = trajscope("export", "--db", store, "--otlp", backend.url + "/", "--json")
    assert again.json == {
        "target": f"http:{backend.url}/v1/logs",
        "protocol": "http",
        "dry_run": False,
        "sent": 0,
        "known": sent,
        "refused": 0,
        "left": 0,
        "failure": None,
        "hint": None,
    }
    assert len(backend.requests) == 1
    table = trajscope("query", "select count(*) as n from exports", "--db", store, "--json")
    assert table.json == [{"n": sent}]


def test_scoring_again_with_the_same_result_sends_nothing(
    trajscope: Trajscope, store: Path, backend: Backend
) -> None:
    trajscope("export", "--db", store, "--otlp", backend.url)
    trajscope("score", "--db", store, "--expect", store.with_name("e.yaml"))
    ran = trajscope("export", "--db", store, "--otlp", backend.url, "--json")
    assert (ran.code, ran.json["sent"]) == (0, 0)


def test_a_dry_run_sends_and_notes_nothing(
    trajscope: Trajscope, store: Path, backend: Backend
) -> None:
    ran = trajscope("export", "--db", store, "--otlp", backend.url, "--dry-run", "--json")
    text = trajscope("export", "--db", store, "--otlp", backend.url, "--dry-run")
    assert backend.requests == []
    assert (ran.code, text.code) == (0, 0)
    assert "nothing was sent" in text.out
    trajscope("export", "--db", store, "--otlp", backend.url)
    shown = [(e["trace_id"], e["span_id"], e["attributes"]) for e in ran.json["events"]]
    assert shown == [(e["trace_id"], e["span_id"], e["attributes"]) for e in backend.events]
    assert ran.json["left"] == len(shown) > 0


def test_a_backend_that_is_down_loses_nothing_and_says_so(
    trajscope: Trajscope, store: Path, backend: Backend
) -> None:
    backend.answers = [Answer(503, headers={"Retry-After": "3600"})]
    ran = trajscope("export", "--db", store, "--otlp", backend.url, "--json")
    assert ran.code == 69
    assert (ran.json["sent"], ran.json["left"] > 0) == (0, True)
    assert "answered 503" in ran.err
    assert "hint: nothing is lost" in ran.err
    later = trajscope("export", "--db", store, "--otlp", backend.url, "--json")
    assert (later.code, later.json["sent"]) == (0, ran.json["left"])


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_nobody_there(trajscope: Trajscope, store: Path, protocol: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    arguments = ("--otlp", url, "--protocol", protocol, "--timeout", "0.5")
    ran = trajscope("export", "--db", store, *arguments)
    assert ran.code == 69
    assert url in ran.err
    assert f"{protocol}:http" not in ran.err
    assert "cannot be reached" in ran.err


def test_grpc_and_one_trace(trajscope: Trajscope, store: Path) -> None:
    ids = [t["trace_id"] for t in trajscope("show", "--db", store, "--json").json["traces"]]
    with grpc_backend() as backend:
        where = ("--db", store, "--otlp", backend.url, "--protocol", "grpc")
        assert trajscope("export", ids[0], *where).code == 0
        assert {e["trace_id"] for e in backend.events} == {ids[0]}
        unknown = trajscope("export", "no such id", *where)
    assert unknown.code == 3
    assert "trajscope list" in unknown.err


def test_two_projects_at_one_address_need_two_names(
    trajscope: Trajscope, store: Path, backend: Backend
) -> None:
    where = ("--db", store, "--otlp", backend.url, "--json")
    first = trajscope("export", *where, "--target", "one")
    second = trajscope("export", *where, "--target", "two")
    assert first.json["sent"] == second.json["sent"] > 0


def test_credentials_are_sent_and_never_printed_or_stored(
    trajscope: Trajscope, store: Path, backend: Backend
) -> None:
    host = backend.url.removeprefix("http://")
    url = f"http://user:{SECRET}@{host}?key={SECRET}"
    backend.answers = [Answer(400, body=f"token {SECRET} is wrong".encode())]
    header = ("--header", f"X-Token={SECRET}")
    shown = ""
    for more in (("--json",), (), ("--dry-run",), ("--dry-run", "--json")):
        ran = trajscope("export", "--db", store, "--otlp", url, *header, *more)
        shown += ran.out + ran.err
    assert backend.headers[0]["x-token"] == SECRET
    assert backend.headers[0]["authorization"].startswith("Basic ")
    assert SECRET not in shown
    table = trajscope("query", "select distinct target from exports", "--db", store)
    assert SECRET not in table.out
    assert host in table.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--otlp"),
        (("--otlp", "localhost:4318"), "http://host:4318"),
        (("--otlp", "http://h", "--header", SECRET), "NAME=VALUE"),
        (("--otlp", "http://h", "--header", f"a b={SECRET}"), "header"),
        (("--otlp", "http://h", "--timeout", "0"), "--timeout"),
        (("--otlp", "http://h:4317/x"), "--protocol http"),
    ],
)
def test_bad_flags(
    trajscope: Trajscope, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    ran = trajscope("export", "--db", tmp_path / "none.duckdb", *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert SECRET not in ran.err


def test_a_store_is_needed(trajscope: Trajscope, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRAJSCOPE_DB", raising=False)
    ran = trajscope("export", "--otlp", "http://h")
    assert ran.code == 2
    assert "--db" in ran.err


def test_a_store_without_scores_says_so(
    trajscope: Trajscope, traces: Path, tmp_path: Path, backend: Backend
) -> None:
    db = tmp_path / "empty.duckdb"
    trajscope("ingest", traces / "mastra0-two" / "trace.otlp.json", "--db", db)
    ran = trajscope("export", "--db", db, "--otlp", backend.url)
    assert ran.code == 0
    assert "no scores" in ran.err
    assert backend.requests == []
