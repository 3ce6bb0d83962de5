"""Captures of every further format, damaged in bytes and in structure: never a traceback.

`FUZZ_EXAMPLES=20000` runs it for as long as wanted; what that found is in the other tests.
"""

import copy
import json
import os
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.captures import read_bytes
from tests.unit.formats_more.samples import FORMATS, NAMES, samples
from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.errors import InputError
from trajscope.model.span import Span

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "25"))
READER = Reader()


def check(data: bytes, format_name: str | None) -> None:
    """Spans that are spans, problems that can be told, or an InputError."""
    try:
        found = read_bytes(data, format_name=format_name)
    except InputError as error:
        assert str(error)
        return
    for span in found.spans:
        assert msgspec.convert(msgspec.to_builtins(span), Span) == span
        assert span.trace_id
        assert span.span_id
        assert span.parent_span_id != ""
    for problem in found.problems.items:
        assert problem.to_json()["message"]
    assemble(found.spans, READER)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_damaged_bytes(name: str, data: st.DataObject) -> None:
    damaged = bytearray(samples()[name])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged)))
        kind = data.draw(st.sampled_from(["set", "cut", "insert", "drop", "repeat"]))
        if kind == "set" and at < len(damaged):
            damaged[at] = data.draw(st.integers(0, 255))
        elif kind == "cut":
            del damaged[at:]
        elif kind == "insert":
            damaged[at:at] = data.draw(st.binary(min_size=1, max_size=6))
        elif kind == "drop":
            del damaged[at : at + data.draw(st.integers(1, 60))]
        else:
            damaged[at:at] = damaged[at : at + data.draw(st.integers(1, 300))]
    check(bytes(damaged), FORMATS[name.split()[0]])


WEIRD: list[Any] = [
    *(None, True, False, 0, -1, 2**63, -(2**70), 1e308, "", "x", "0" * 32, "\x00", "-5"),
    *("9999-99-99T99:99:99Z", "[1,", '{"a": 1}', "NaN", [], {}, [[]], [None], [{}], {"": {}}),
    *({"a": {"b": [1, {"c": None}]}}, {"trace_id": 1}, [1, "a"], "a" * 3000, "1" * 400),
]


@pytest.mark.parametrize("name", [n for n in NAMES if "parquet" not in n and "pretty" not in n])
@settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_values_of_wrong_types(name: str, data: st.DataObject) -> None:
    text = samples()[name]
    lines = text.splitlines() if "lines" in name or "spans" in name else [text]
    records = [json.loads(line) for line in lines]
    for _ in range(data.draw(st.integers(1, 3))):
        damage(records, data)
    check(b"\n".join(json.dumps(r).encode() for r in records), FORMATS[name.split()[0]])


def damage(node: Any, data: st.DataObject) -> None:
    """Replace, remove or rename something somewhere below."""
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = data.draw(st.sampled_from(keys))
        inner = node[key]
        if isinstance(inner, dict | list) and inner and data.draw(st.integers(0, 3)):
            node = inner
            continue
        if isinstance(node, dict) and data.draw(st.booleans()):
            node[str(data.draw(st.sampled_from(WEIRD)))] = node.pop(key)
        else:
            node[key] = copy.deepcopy(data.draw(st.sampled_from(WEIRD)))
        return


@pytest.mark.parametrize("name", [n for n in NAMES if "parquet" not in n])
def test_every_cut_gives_what_came_before(name: str) -> None:
    whole = samples()[name]
    count = len(read_bytes(whole).spans)
    for tenth in range(1, 10):
        data = whole[: len(whole) * tenth // 10]
        found = read_bytes(data, format_name=FORMATS[name.split()[0]])
        assert len(found.spans) <= count
        assert found.problems.count or len(found.spans) < count


@pytest.mark.parametrize("depth", [300, 900, 5000, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_values_of_any_depth(depth: int, opening: str, closing: str) -> None:
    value = opening * depth + "1" + closing * depth
    rows = {
        "jaeger": '{"traceID": "1", "spanID": "2", "tags": [{"key": "a", "value": %s}]}',
        "clickhouse-otel": '{"TraceId": "1", "SpanId": "2", "SpanName": "", "SpanAttributes": %s}',
        "phoenix": '{"context": {"trace_id": "1", "span_id": "2"}, "attributes": {"a": %s}}',
        "langsmith": '{"id": "1", "run_type": "tool", "inputs": %s}',
        "mlflow-trace": '{"info": {}, "data": {"spans": [{"span_id": "1", "attributes": %s}]}}',
    }
    for format_name, row in rows.items():
        check((row % value).encode(), format_name)
        text = (row % json.dumps(value)).encode()
        check(text, format_name)


@pytest.mark.parametrize("size", [5_000_000])
def test_one_long_line(size: int) -> None:
    row = {"TraceId": "1", "SpanId": "2", "SpanName": "x" * size, "SpanAttributes": {"a": "b"}}
    found = read_bytes(json.dumps(row).encode(), format_name="clickhouse-otel")
    assert len(found.spans[0].name) == size
    cut = read_bytes(json.dumps(row).encode()[:-5], format_name="clickhouse-otel")
    assert (cut.spans, cut.problems.count) == ([], 1)
