"""Log records on their way in: masked, lighter, the same twice."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.stores import empty_store
from trajscope.pipeline.load import InputOptions, records
from trajscope.pipeline.storing import ingest
from trajscope.redact import Redactor
from trajscope.store import Store

TRACES = Path(__file__).parents[3] / "fixtures" / "traces"
CASE = TRACES / "claude_code-err"
LOGS, SPANS = CASE / "logs.otlp-logs.json", CASE / "trace.otlp.json"


def take(store: Store, *paths: Path, **options: Any) -> None:
    list(ingest([str(p) for p in paths], store, InputOptions(**options)))


def rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    return list(store.query(sql).rows)


def names(store: Store) -> set[str]:
    """The names of all attributes of records, of what they stand for, and of spans."""
    parts = rows(
        store,
        "SELECT attributes FROM log_records UNION ALL SELECT attributes FROM spans UNION ALL "
        "SELECT resource_attributes FROM log_records UNION ALL "
        "SELECT standin->'attributes' FROM log_records WHERE standin IS NOT NULL",
    )
    return {name for (part,) in parts for name in json.loads(part)}


@pytest.mark.parametrize("order", [(LOGS, SPANS), (SPANS, LOGS)])
def test_secrets_are_masked_in_records_too_and_new_masks_are_no_new_records(
    order: tuple[Path, ...], tmp_path: Path
) -> None:
    secret = "sk-ant-api03-" + "Zq8xW1" * 6
    leaky = tmp_path / "logs.json"
    text = LOGS.read_text("utf-8")
    marked = text.replace('"stringValue": "', f'"stringValue": "{secret} ', 40)
    leaky.write_text(marked if marked != text else text.replace('":"', f'":"{secret} '), "utf-8")
    assert secret in leaky.read_text("utf-8")
    paths = [leaky if path == LOGS else path for path in order]
    with Store.open() as store:
        for key in (b"a", b"b"):
            for path in paths:
                take(store, path, redactor=Redactor(secret=key))
        counted = rows(store, "SELECT count(*), count(DISTINCT record_key) FROM log_records")
        told = repr(rows(store, "FROM log_records")) + repr(rows(store, "FROM spans"))
        told += repr(rows(store, "FROM steps"))
    assert counted[0][0] == counted[0][1] > 0
    assert "[REDACTED:" in told
    assert secret not in told


def test_dropped_attributes_are_dropped_from_records_and_what_they_stand_for() -> None:
    """As of spans: what a record stands for was read before, so its step keeps what it is."""
    ask = "SELECT name, step_type, args::VARCHAR, success FROM steps ORDER BY ALL"
    with Store.open() as store, Store.open() as lighter:
        take(store, LOGS)
        take(lighter, LOGS, drop_attributes=("tool_*", "user.*"))
        assert rows(lighter, ask) == rows(store, ask) != []
        assert [name for name in names(store) if name.startswith(("tool_", "user."))]
        assert not [name for name in names(lighter) if name.startswith(("tool_", "user."))]
        lost = """attributes->>'$."trajscope.dropped_attributes"'"""
        assert rows(lighter, f"SELECT count(*) > 0 FROM log_records WHERE ({lost})::INT > 0") == [
            (True,)
        ]
        # Read again without the patterns, each record is there once, and whole.
        take(lighter, LOGS)
        whole = "SELECT * EXCLUDE (capture_no) FROM log_records ORDER BY ALL"
        assert rows(lighter, whole) == rows(store, whole)
        take(lighter, LOGS, drop_attributes=("tool_*", "user.*"))
        assert rows(lighter, whole) == rows(store, whole)


STEPS = """SELECT trace_id, step_id, step_type, name, args::VARCHAR, result::VARCHAR, success,
    failure, tool_call_id, input_tokens, output_tokens FROM steps ORDER BY ALL"""
CASES = sorted(path.parent for path in TRACES.glob(f"*/{LOGS.name}"))
PATTERNS: list[tuple[str, ...]] = [
    *((), ("host.*", "service.*", "network.*"), ("tool_*", "arg*"), ("gen_ai.*",), ("*",)),
]


Captures = tuple[Path, Path]
"""A capture of spans and one of log records."""


@cache
def told(paths: tuple[Path, ...], dropped: tuple[tuple[str, ...], ...]) -> list[tuple[Any, ...]]:
    """The steps of a store that took these captures, each without the attributes given for it."""
    with empty_store() as store:
        for path, patterns in zip(paths, dropped, strict=True):
            take(store, path, drop_attributes=patterns)
        return rows(store, STEPS)


def joined(cases: list[Path], folder: Path) -> Captures:
    """The captures of some cases as two, since each one that is taken costs half a second."""
    made = []
    for name, key in ((SPANS.name, "resourceSpans"), (LOGS.name, "resourceLogs")):
        documents = [json.loads((case / name).read_text("utf-8")) for case in cases]
        resources = [resource for document in documents for resource in document[key]]
        made.append(folder / name)
        made[-1].write_text(json.dumps({key: resources}), "utf-8")
    return made[0], made[1]


@pytest.fixture(scope="module")
def every_case(tmp_path_factory: pytest.TempPathFactory) -> Captures:
    """All cases with log records."""
    return joined(CASES, tmp_path_factory.mktemp("every"))


@pytest.mark.parametrize("logs_first", [True, False])
@pytest.mark.parametrize("dropped", PATTERNS)
def test_what_records_add_to_spans_is_not_lost_with_dropped_attributes(
    every_case: Captures, dropped: tuple[str, ...], *, logs_first: bool
) -> None:
    whole = told(every_case, ((), ()))
    traces = {one.trace_id for one in records([str(every_case[0])], InputOptions())}
    assert traces <= {row[0] for row in whole}
    order = every_case[::-1] if logs_first else every_case
    assert told(order, (dropped, dropped)) == whole


ONLY_TOLD = ["otel_utilgenai-err", "pydantic_ai1x_v1-err", "openai_client_otelv2-err"]


@pytest.fixture(scope="module")
def only_told(tmp_path_factory: pytest.TempPathFactory) -> Captures:
    """Cases with messages in log records only, and without spans of tools."""
    made = joined([TRACES / name for name in ONLY_TOLD], tmp_path_factory.mktemp("told"))
    document = json.loads(made[0].read_text("utf-8"))
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            scope["spans"] = [s for s in scope["spans"] if "tool" not in s["name"]]
            for span in scope["spans"]:
                span["attributes"] = [
                    a for a in span["attributes"] if not a["key"].endswith("messages")
                ]
    made[0].write_text(json.dumps(document), "utf-8")
    return made


@pytest.mark.parametrize("pattern", ["gen_ai.*", "*"])
@pytest.mark.parametrize("lighter", [(True, True), (True, False), (False, True)])
def test_calls_that_only_records_tell_of_outlive_dropped_attributes(
    only_told: Captures, pattern: str, lighter: tuple[bool, bool]
) -> None:
    """Whether the spans lose them, the records, or both; in bodies or in attributes."""
    whole = told(only_told, ((), ()))
    called = {row[0] for row in whole if row[3] == "lookup_order"}
    assert len(called) == 4  # a trace each, of the client two
    patterns = tuple((pattern,) if light else () for light in lighter)
    assert told(only_told, patterns) == whole
    assert told(only_told[::-1], patterns[::-1]) == whole


def test_a_record_of_one_capture_is_found_by_spans_of_another_run(tmp_path: Path) -> None:
    ask = "FROM steps ORDER BY ALL"
    with Store.open(tmp_path / "one.duckdb") as store:
        take(store, LOGS, SPANS)
        together = rows(store, ask)
    for name, order in (("a", (LOGS, SPANS)), ("b", (SPANS, LOGS))):
        for path in order:
            with Store.open(tmp_path / f"{name}.duckdb") as store:
                take(store, path)
        with Store.open(tmp_path / f"{name}.duckdb", read_only=True) as store:
            assert rows(store, ask) == together


def test_an_export_has_the_records_as_events(tmp_path: Path) -> None:
    ask = "SELECT * EXCLUDE (capture_no) FROM spans ORDER BY trace_id, span_id"
    with Store.open() as store, Store.open() as again:
        take(store, SPANS, LOGS)
        store.write_parquet(tmp_path)
        take(again, tmp_path)
        steps = "FROM steps ORDER BY ALL"
        assert rows(again, steps) == rows(store, steps)
        spans = {s.span_id: s for _, trace in store.iter_traces() for s, _ in trace}
        assert {s.span_id: s for _, trace in again.iter_traces() for s, _ in trace} == spans
        before = rows(again, ask)
        take(again, LOGS)  # what they say is there already
        assert rows(again, steps) == rows(store, steps)
        assert len(rows(again, ask)) == len(before)
