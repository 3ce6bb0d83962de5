"""Stores for tests: readings to put into them, and their tables as plain values.

One thing a newcomer would get wrong: `tables` leaves out what may differ between two stores that
say the same (the numbers of captures, and when something was written).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import strategies as st

from tests.support.spans import attribute_values, attributes, texts
from trajscope.model.reading import (
    NOT_UNDERSTOOD,
    Reading,
    StepType,
    ToolRequest,
    ToolResponse,
    Usage,
)
from trajscope.model.step_row import StepRow, TrajectoryRow
from trajscope.store import CaptureInfo, IngestReport, Record, Store
from trajscope.store.args_key import args_key

CALL_IDS = ("call_1", "call_2", "call_3")
TOOLS = ("search", "fetch", "mcp__web__get")


_TABLES = (
    "captures",
    "spans",
    "log_records",
    "repairs",
    "trajectories",
    "steps",
    "scores",
    "findings",
    "exports",
)
_reused: list[Store] = []


@contextmanager
def empty_store() -> Iterator[Store]:
    """Give an empty store in memory; the same one again and again, since opening takes longest."""
    store = _reused.pop() if _reused else Store.open(threads=1)
    for table in _TABLES:
        store._connection.execute(f"DELETE FROM {table}").fetchall()
    yield store  # not put back when the test fails inside
    _reused.append(store)


@contextmanager
def held_elsewhere(
    path: Path, *, read_only: bool = False, first: str = ""
) -> Iterator[subprocess.Popen[str]]:
    """Another process that has the store open, until the end or until it reads a line.

    first: what it does before that, as Python; the store is called `store`.
    """
    code = (
        "import sys\nfrom trajscope.store import Store\n"
        f"store = Store.open(sys.argv[1], read_only={read_only})\n{first}\n"
        "print('held', flush=True); sys.stdin.readline(); store.close()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.communicate("\n")


def capture(name: str = "capture") -> CaptureInfo:
    """Return a capture whose content is its name."""
    return CaptureInfo(id=name, name=f"{name}.json", format="test")


def ingest(store: Store, records: Iterable[Record], name: str = "capture") -> IngestReport:
    """Ingest records as one capture."""
    return store.ingest(capture(name), records)


def select(store: Store, sql: str) -> list[dict[str, Any]]:
    """Return the rows of a query by column."""
    result = store.query(sql)
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def tables(store: Store) -> dict[str, list[str]]:
    """Return the content of every derived table and of the spans, as sorted text."""
    queries = {
        "spans": "SELECT * EXCLUDE (capture_no) FROM spans",
        "trajectories": "FROM trajectories",
        "steps": "FROM steps",
        "log_records": "SELECT * EXCLUDE (capture_no) FROM log_records",
        "repairs": "FROM repairs WHERE kind <> 'duplicate_merged'",
    }
    return {name: sorted(map(repr, select(store, sql))) for name, sql in queries.items()}


def steps(store: Store) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the steps of a store by trace and step id, in the words of `StepRow`."""
    found = {}
    for row in select(
        store,
        "SELECT * EXCLUDE (start_time, end_time, duration_ns), epoch_ns(start_time) AS start_ns, "
        "epoch_ns(end_time) AS end_ns FROM steps",
    ):
        for name in ("args", "result", "fields"):
            row[name] = None if row[name] is None else json.loads(row[name])
        row["fields"] = row["fields"] or {}
        found[row["trace_id"], row["step_id"]] = row
    return found


def trajectories(store: Store) -> dict[str, dict[str, Any]]:
    """Return the trajectories of a store by trace id, in the words of `TrajectoryRow`."""
    sql = "SELECT * EXCLUDE (start_time), epoch_ns(start_time) AS start_ns FROM trajectories"
    return {row["trace_id"]: row for row in select(store, sql)}


def expected_step(step: StepRow) -> dict[str, Any]:
    """Return a step row as `steps` shows it."""
    row = msgspec.structs.asdict(step)
    row["args_key"] = args_key(step.args)
    for name in ("args", "result"):
        row[name] = None if row[name] is msgspec.UNSET else row[name]
    plain: dict[str, Any] = json.loads(json.dumps(row))
    return plain


def expected_trajectory(row: TrajectoryRow) -> dict[str, Any]:
    """Return a trajectory row as `trajectories` shows it."""
    plain: dict[str, Any] = json.loads(json.dumps(msgspec.to_builtins(row)))
    del plain["steps"]
    return plain


def _json_or_unset() -> st.SearchStrategy[Any]:
    return st.just(msgspec.UNSET) | attribute_values()


def _texts_or_none() -> st.SearchStrategy[str | None]:
    return st.none() | texts()


def usages() -> st.SearchStrategy[Usage]:
    """Token counts, known or not."""
    counts = st.none() | st.integers(0, 1000)
    return st.builds(Usage, counts, counts, counts, counts)


def any_readings() -> st.SearchStrategy[Reading]:
    """Readings that say anything they can, sense or not."""
    requests = st.builds(
        ToolRequest, texts(), _texts_or_none(), _json_or_unset(), provider_executed=st.booleans()
    )
    responses = st.builds(
        ToolResponse,
        _texts_or_none(),
        _texts_or_none(),
        _json_or_unset(),
        failed=st.none() | st.booleans(),
        failure=_texts_or_none(),
    )
    return st.just(NOT_UNDERSTOOD) | st.builds(
        Reading,
        convention=texts(),
        claim=st.integers(0, 23),
        step_type=st.none() | st.sampled_from(StepType),
        name=texts(),
        noise_reason=texts(),
        is_model_call=st.booleans(),
        args=_json_or_unset(),
        args_value=_json_or_unset(),
        result=_json_or_unset(),
        failed=st.none() | st.booleans(),
        failure=_texts_or_none(),
        not_failure=st.booleans(),
        tool_call_id=_texts_or_none(),
        mcp_server=_texts_or_none(),
        is_mcp=st.booleans(),
        agent_name=_texts_or_none(),
        session_id=_texts_or_none(),
        model=_texts_or_none(),
        usage=st.none() | usages(),
        requests=st.lists(requests, max_size=2).map(tuple),
        responses=st.lists(responses, max_size=2).map(tuple),
        fields=attributes(2).map(lambda d: {f"x{k}": v for k, v in d.items()}),
        candidate=st.none() | st.sampled_from(StepType),
        is_part=st.booleans(),
        sources=st.dictionaries(texts(), texts(), max_size=2),
    )


def _tools() -> st.SearchStrategy[Reading]:
    failed = st.sampled_from([None, None, False, True])
    return st.builds(
        Reading,
        convention=st.just("test"),
        step_type=st.sampled_from([StepType.TOOL_CALL, StepType.TOOL_CALL, StepType.MCP_TOOL_CALL]),
        name=st.sampled_from(TOOLS),
        args=st.sampled_from([msgspec.UNSET, {}, {"q": 1}, {"q": 1, "ctx": 2}]),
        result=st.sampled_from([msgspec.UNSET, None, "ok", {"rows": []}]),
        failed=failed,
        failure=st.sampled_from([None, "", "boom"]),
        tool_call_id=st.sampled_from([None, *CALL_IDS]),
        mcp_server=st.sampled_from([None, "web"]),
        agent_name=st.sampled_from([None, None, "boss"]),
    )


def _generations() -> st.SearchStrategy[Reading]:
    requests = st.builds(
        ToolRequest,
        st.sampled_from(TOOLS),
        st.sampled_from([None, *CALL_IDS]),
        st.sampled_from([msgspec.UNSET, {}, {"q": 1}]),
    )
    responses = st.builds(
        ToolResponse,
        st.sampled_from(CALL_IDS),
        st.sampled_from([None, *TOOLS]),
        st.sampled_from([msgspec.UNSET, "ok", "Error: no"]),
        failed=st.sampled_from([None, None, True]),
        failure=st.sampled_from([None, "boom"]),
    )
    few = st.lists(requests, max_size=1).map(tuple)
    return st.builds(
        Reading,
        convention=st.just("test"),
        step_type=st.sampled_from([StepType.MODEL_GENERATION] * 5 + [None]),
        name=st.sampled_from(["", "m"]),
        is_model_call=st.sampled_from([True, True, True, False]),
        model=st.sampled_from([None, "m"]),
        finish_reason=st.sampled_from([None, "stop"]),
        usage=st.none() | st.just(Usage(3, 4)) | usages(),
        response_id=st.sampled_from([None, None, None, "r1"]),
        requests=few,
        responses=st.lists(responses, max_size=1).map(tuple),
        agent_name=st.sampled_from([None, None, "boss"]),
        session_id=st.sampled_from([None, "s1", "s2"]),
        failed=st.sampled_from([None, False, True]),
        failure=st.sampled_from([None, "boom"]),
    )


def _others() -> st.SearchStrategy[Reading]:
    return st.builds(
        Reading,
        convention=st.just("test"),
        step_type=st.sampled_from(
            [
                StepType.AGENT_RUN,
                StepType.AGENT_RUN,
                StepType.WORKFLOW_RUN,
                StepType.WORKFLOW_STEP,
                StepType.RETRIEVAL,
                StepType.HANDOFF,
                None,
            ]
        ),
        name=st.sampled_from(["", "boss", "helper"]),
        agent_name=st.sampled_from([None, "boss", "helper"]),
        agent_id=st.sampled_from([None, "a1"]),
        session_id=st.sampled_from([None, "s1"]),
        usage=st.sampled_from([None, None, None, Usage(7, 8)]),
        failed=st.sampled_from([None, False, True]),
        failure=st.sampled_from([None, "boom"]),
        candidate=st.sampled_from([None, None, None, StepType.WORKFLOW_STEP]),
    )


def readings() -> st.SearchStrategy[Reading]:
    """Readings as conventions make them, of few names and ids, so that rules have much to do."""
    return st.one_of(st.just(NOT_UNDERSTOOD), _tools(), _generations(), _others())
