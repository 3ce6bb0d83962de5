"""`ingest --redact`: no secret reaches the store, and steps stay what they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from trajscope.cli.ingest import COMMAND as INGEST
from trajscope.model.score import Verdict
from trajscope.pipeline.auditing import audit_store
from trajscope.rules import parse_policy
from trajscope.store import Store

KEY = "sk-proj-" + "a1B2" * 12


def attribute(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


def span(number: int, args: dict[str, Any]) -> dict[str, Any]:
    return {
        "traceId": "0" * 31 + "1",
        "spanId": f"{number:016x}",
        "name": "execute_tool send",
        "startTimeUnixNano": str(number),
        "endTimeUnixNano": str(number + 1),
        "attributes": [
            attribute("gen_ai.operation.name", "execute_tool"),
            attribute("gen_ai.tool.name", "send"),
            attribute("gen_ai.tool.call.arguments", json.dumps(args)),
        ],
        "events": [{"name": "note", "attributes": [attribute("authorization", f"Bearer {KEY}")]}],
    }


@pytest.fixture
def store(tmp_path: Path) -> Path:
    spans = [span(1, {"api_key": KEY, "to": "bob"}), span(2, {"api_key": KEY, "to": "eve"})]
    capture = tmp_path / "a.otlp.json"
    capture.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    db = tmp_path / "s.duckdb"
    arguments = [str(capture), "--db", str(db), "--redact", "--jobs", "2"]
    done = CliRunner().invoke(INGEST, arguments, standalone_mode=False)
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return db


def test_the_store_holds_no_secret(store: Path) -> None:
    with Store.open(store, read_only=True) as opened:
        everything = [
            repr(row)
            for table in ("spans", "steps", "trajectories")
            for row in opened.query(f"FROM {table}").rows
        ]
        [names] = opened.query("select list(name order by ord) from steps").rows
        [keys] = opened.query("select count(distinct args->>'$.api_key') from steps").rows
    assert everything
    assert not any(KEY in text for text in everything)
    assert KEY.encode() not in store.read_bytes()
    assert names == (["send", "send"],)
    assert keys == (1,), "one secret, one mask"


def test_what_was_masked_is_unknown_to_a_rule(store: Path) -> None:
    policy = parse_policy(
        "- {id: key, never: {tool: send, where: {args.api_key: {eq: x}}}}\n"
        "- {id: to, never: {tool: send, where: {args.to: {eq: carol}}}}\n"
    )
    with Store.open(store, read_only=True) as opened:
        verdicts = audit_store(opened, policy.rules).verdicts
    assert {rule: set(found) for rule, found in verdicts.items()} == {
        "key": {Verdict.UNKNOWN},
        "to": {Verdict.SATISFIED},
    }
