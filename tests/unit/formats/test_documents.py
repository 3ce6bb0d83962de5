"""Splitting text into JSON documents, whole and broken."""

from __future__ import annotations

import json

import pytest

from tests.support.captures import source_of
from trajscope.errors import Problems
from trajscope.formats import _documents
from trajscope.formats._documents import iter_documents


def split(data: bytes) -> tuple[list[tuple[str, int | None]], list[str]]:
    """The documents, compact, with their lines; and the problems as `line: word word`."""
    problems = Problems()
    found = [
        (json.dumps(json.loads(d.text), separators=(",", ":")), d.at.line)
        for d in iter_documents(source_of(data), problems)
    ]
    return found, [f"{p.at.line if p.at else None}: {p.message}" for p in problems.items]


@pytest.mark.parametrize(
    ("data", "documents", "problems"),
    [
        (b'{"a":1}\n{"b":2}', [('{"a":1}', 1), ('{"b":2}', 2)], []),
        (b'{"a":1}{"b":2} {"c":3}\n', [('{"a":1}', 1), ('{"b":2}', 1), ('{"c":3}', 1)], []),
        (b'\xef\xbb\xbf{"a":1}\r\n\r\n{"b":2}\r\n', [('{"a":1}', 1), ('{"b":2}', 3)], []),
        (b'\xef\xbb\xbf\n{"a":1}', [('{"a":1}', 2)], []),
        (b'[{"a":1},\n {"b":\n2}]\n', [('{"a":1}', 1), ('{"b":2}', 2)], []),
        (b'{\n"a": {\n"b":\n1\n}\n}\n{"c":3}', [('{"a":{"b":1}}', 1), ('{"c":3}', 7)], []),
        (b'{"a":1},\n{"b":2},\n', [('{"a":1}', 1), ('{"b":2}', 2)], []),
        (b'{"a":1}\n\0\0\0', [('{"a":1}', 1)], []),
        (b'{"a":1}\nnoise\nmore noise\n{"b":2}', [('{"a":1}', 1), ('{"b":2}', 4)], ["2", "3"]),
        (b'{"a":[1,\n{"a":[2]}\n{"b":2}', [('{"a":[2]}', 2), ('{"b":2}', 3)], ["1"]),
        (b'{"a":"x\n{"b":"y"}\n', [('{"b":"y"}', 2)], ["1"]),
        (b'{"x":[\n{"b":1}\n{"c":2}\n', [('{"b":1}', 2), ('{"c":2}', 3)], ["1"]),
        (b'{"a":1} rest\n{"b":2}', [('{"a":1}', 1), ('{"b":2}', 2)], ["1"]),
        (b'[{"a":1},{"b":', [('{"a":1}', 1)], ["1"]),
        (b'[{"a":1},\n', [('{"a":1}', 1)], ["1"]),
        (
            b'[\n {\n  "a": 1\n },\n {\n  "b": oops\n },\n {\n  "c": 3\n }\n]',
            [('{"a":1}', 2), ('{"c":3}', 8)],
            ["6"],
        ),
        (b'{"a":NaN,"b":[-Infinity,"NaN"]}', [('{"a":null,"b":[null,"NaN"]}', 1)], []),
        (b'{"a":"\\ud83d"}\n{"b":1}', [('{"a":"\\ufffd"}', 1), ('{"b":1}', 2)], []),
        (b'{\n"a":\n"\\ud83d"\n}', [('{"a":"\\ufffd"}', 1)], []),
    ],
)
def test_documents_and_what_stands_between(
    data: bytes, documents: list[tuple[str, int]], problems: list[str]
) -> None:
    found, reported = split(data)
    assert found == documents
    assert [p.partition(":")[0] for p in reported] == problems


def test_deep_nesting_is_reported_and_the_rest_read() -> None:
    found, reported = split(b"{" + b'"a":{' * 5000 + b"}" * 5001 + b'\n{"b":1}')
    assert found == [('{"b":1}', 2)]
    assert "nested too deep" in reported[0]


def test_a_cut_document_says_so() -> None:
    assert "incomplete JSON" in split(b'{"a": [1, 2')[1][0]


def test_hostile_bytes_are_shown_escaped() -> None:
    (message,) = split(b"\x1b[31mred\n")[1]
    assert "\x1b" not in message
    assert "\\x1b" in message


def test_a_document_over_the_limit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_documents, "MAX_DOCUMENT_BYTES", 100)
    found, reported = split(b'{\n "a": [\n' + b"  1,\n" * 50 + b'  1\n ]\n}\n{"b":1}')
    assert found == [('{"b":1}', 56)]
    assert "more than 100 bytes" in reported[0]


def test_many_broken_documents_do_not_take_quadratic_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_documents, "MAX_READ_AGAIN_BYTES", 100_000)
    opened = "".join(f'{{"k{n}":[\n' for n in range(300))
    found, reported = split(opened.encode() + b"1,\n" * 5000)
    assert found == []
    assert "too many broken documents" in reported[-1]
    assert len(reported) < 20
