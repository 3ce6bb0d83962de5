"""`trajscope audit --follow`: what arrives is audited, told once, and sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Trajscope
from tests.cli.test_audit import captured, stored
from tests.support.stores import held_elsewhere
from trajscope.errors import ExportError, UsageError
from trajscope.pipeline.audit import AuditOptions
from trajscope.pipeline.follow import Follower
from trajscope.report.webhook import check_address, post
from trajscope.rules import load_policy


class Hook(ThreadingHTTPServer):
    """Keeps what is posted; answers with the codes it is given, then with 200."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.posted: list[Any] = []
        self.codes: list[int] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"


class Answer(BaseHTTPRequestHandler):
    server: Hook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posted.append(json.loads(body))
        code = self.server.codes.pop(0) if self.server.codes else 200
        self.send_response(code)
        if code == 302:
            self.send_header("Location", self.server.url)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def hook() -> Iterator[Hook]:
    server = Hook()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    file = tmp_path / "p.yaml"
    file.write_text("- {id: no-b, never: b}\n")
    return file


def test_only_touched_traces_are_audited_and_each_finding_told_once(
    trajscope: Trajscope, policy: Path, tmp_path: Path
) -> None:
    db = stored(trajscope, tmp_path, captured(tmp_path, ["a"], ["a", "b"]))
    follower = Follower(load_policy(policy), str(db), AuditOptions())
    first = follower.look()
    assert first is not None
    assert (first.trace_count, len(first.findings)) == (2, 1)
    assert follower.look() is None
    trajscope("ingest", captured(tmp_path, ["b"], start=7), "--db", db)
    second = follower.look()
    assert second is not None
    assert second.trace_count == 1
    assert [f.trace_id for f in second.findings] == [f"{7:032x}"]
    rows = trajscope("query", "--db", db, "select trace_id from findings", "--json").json
    assert len(rows) == 2


def test_a_log_record_that_changes_a_trace_is_news(
    trajscope: Trajscope, traces: Path, policy: Path, tmp_path: Path
) -> None:
    case = traces / "codex_cli-err"
    db = stored(trajscope, tmp_path, case / "trace.otlp.json")
    follower = Follower(load_policy(policy), str(db), AuditOptions())
    assert follower.look() is not None
    assert follower.look() is None
    trajscope("ingest", case / "logs.otlp-logs.json", "--db", db)
    found = follower.look()
    assert found is not None
    assert found.trace_count > 0
    assert follower.look() is None


def test_it_ends_at_a_finding(trajscope: Trajscope, policy: Path, tmp_path: Path) -> None:
    db = stored(trajscope, tmp_path, captured(tmp_path, ["a", "b"]))
    ran = trajscope("audit", "--db", db, "--policy", policy, "--follow")
    assert ran.code == 1
    assert "no-b" in ran.out
    quiet = ("--follow", "--stop-after", "0", "--fail-on", "never")
    assert trajscope("audit", "--db", db, "--policy", policy, *quiet).code == 0


def test_findings_are_posted(
    trajscope: Trajscope, policy: Path, tmp_path: Path, hook: Hook
) -> None:
    db = stored(trajscope, tmp_path, captured(tmp_path, ["a", "b"]))
    common = ("audit", "--db", db, "--policy", policy, "--follow", "--stop-after", "0")
    assert trajscope(*common, "--webhook", hook.url).code == 1
    [document] = hook.posted
    assert document["results"][0]["findings"][0]["rule"] == "no-b"
    hook.codes = [400]
    refused = trajscope(*common, "--webhook", hook.url)
    assert refused.code == 1
    assert "answered 400" in refused.err


def test_a_post_is_tried_again_only_where_that_helps(hook: Hook) -> None:
    waits: list[float] = []
    hook.codes = [503, 429]
    post(hook.url, {}, sleep=waits.append)
    assert (len(hook.posted), waits) == (3, [1.0, 2.0])
    hook.codes = [302]
    with pytest.raises(ExportError, match="302"):
        post(hook.url, {}, sleep=waits.append)
    assert len(hook.posted) == 4
    hook.codes = [500] * 3
    with pytest.raises(ExportError, match="500"):
        post(hook.url, {}, sleep=waits.append)
    with pytest.raises(ExportError, match="cannot be reached"):
        post("http://127.0.0.1:1/x", {}, sleep=waits.append)


@pytest.mark.parametrize("url", ["ftp://x/", "x", "http://example.com/", "http://[::", "file:///e"])
def test_findings_go_nowhere_else(url: str) -> None:
    with pytest.raises(UsageError):
        check_address(url)


@pytest.mark.parametrize("url", ["https://example.com/", "http://localhost:1/", "http://[::1]/"])
def test_findings_may_go_there(url: str) -> None:
    assert check_address(url) == url
    assert check_address("http://example.com/", allow_plain=True)


def test_follow_needs_a_store(trajscope: Trajscope, policy: Path, tmp_path: Path) -> None:
    file = captured(tmp_path, ["a"])
    assert trajscope("audit", file, "--policy", policy, "--follow").code == 2
    assert trajscope("audit", file, "--policy", policy, "--webhook", "https://x/").code == 2


def test_a_store_that_was_never_free_is_no_pass(
    trajscope: Trajscope, policy: Path, tmp_path: Path
) -> None:
    db = stored(trajscope, tmp_path, captured(tmp_path, ["a"]))
    command = ("audit", "--db", db, "--policy", policy, "--follow", "--stop-after", 0)
    with held_elsewhere(db):
        ran = trajscope(*command)
    assert (ran.code, "nothing could be evaluated" in ran.err) == (5, True)
    assert trajscope(*command).code == 0
