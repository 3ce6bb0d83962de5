"""Where captures come from: files, folders, standard input, pipes, compression."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import sys
import threading
from pathlib import Path

import pytest
import zstandard

from tests.support.captures import read_bytes, source_of
from tests.support.otlp import as_json, as_protobuf
from tests.support.spans import span
from trajscope.errors import InputError, Problems, UnknownFormat, UsageError
from trajscope.formats import FileSource, _source, parse_size, read_captures

GOOD = json.dumps(as_json([span(1), span(2, parent=1)])).encode()


def read(*paths: Path | str, **options: int) -> tuple[int, Problems]:
    problems = Problems()
    found = [*read_captures([str(p) for p in paths], problems, **options)]  # type: ignore[arg-type]
    return len(found), problems


def test_a_folder_is_searched_and_what_is_no_capture_is_counted(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "a.json").write_bytes(GOOD)
    (tmp_path / "b.bin").write_bytes(as_protobuf([span(3)]))
    (tmp_path / "notes.txt").write_text("no capture")
    (tmp_path / "empty.json").touch()
    (tmp_path / ".hidden.json").write_bytes(GOOD)
    count, problems = read(tmp_path)
    assert count == 3
    assert problems.skipped == {"files that are no capture": 2}
    assert problems.count == 0


def test_a_folder_without_captures_is_refused_even_beside_a_good_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("no capture")
    (tmp_path / "a.json").write_bytes(GOOD)
    with pytest.raises(InputError, match=r"folder: no capture in this folder"):
        read(tmp_path / "a.json", tmp_path / "folder")


@pytest.mark.parametrize("unreadable", [1, 3])
def test_a_folder_in_which_nothing_can_be_read_is_not_called_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unreadable: int
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for n in range(unreadable):
        (folder / f"{n}.json").write_bytes(GOOD)
    (folder / "notes.txt").write_text("no capture")
    open_file = _source.open_file

    def refuse(path: Path) -> io.FileIO:
        if path.suffix == ".json":
            raise PermissionError(errno.EACCES, "Permission denied")
        return open_file(path)

    monkeypatch.setattr(_source, "open_file", refuse)
    with pytest.raises(InputError) as caught:
        read(folder)
    said = str(caught.value)
    assert said.startswith(f"{folder}: nothing in this folder can be read; ")
    assert f"{folder}/0.json: cannot be read (Permission denied)" in said
    assert ("(and 2 more)" in said) == (unreadable == 3)


def test_every_path_is_looked_at_before_any_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(GOOD)
    records = read_captures([str(tmp_path / "a.json"), str(tmp_path / "gone.json")], Problems())
    with pytest.raises(InputError, match=r"gone\.json: cannot be read \(No such file"):
        next(records)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (b"", InputError, "is empty"),
        (b" \n\n", InputError, "only white space"),
        (b"hello", UnknownFormat, r"starts with b'hello'\); expected one of .*otlp-json"),
        (b"PK\x03\x04rest", UnknownFormat, "zip archive: unpack it first"),
        ("{}".encode("utf-16"), UnknownFormat, "UTF-16"),
        (gzip.compress(gzip.compress(GOOD)), UnknownFormat, "compressed twice"),
        (b'{"maxTotalTokens": 500}', UnknownFormat, "expected one of"),
    ],
)
def test_a_named_file_that_is_no_capture_says_what_it_is(
    tmp_path: Path, data: bytes, error: type[InputError], message: str
) -> None:
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(error, match=message):
        read(tmp_path / "x")


def test_a_path_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read("a\0b")


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("good.json", "secret.json"):
        (tmp_path / name).write_bytes(GOOD)

    def open_(path: Path) -> io.FileIO:
        if path.name == "secret.json":
            raise PermissionError(13, "Permission denied")
        return io.FileIO(path)

    monkeypatch.setattr("trajscope.formats._source.open_file", open_)
    with pytest.raises(InputError, match=r"secret\.json: cannot be read \(Permission denied\)"):
        read(tmp_path / "secret.json")
    count, problems = read(tmp_path)
    assert (count, problems.count) == (2, 1)


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(gzip.compress(GOOD))

    monkeypatch.setattr(sys, "stdin", Stdin())
    count, problems = read("-")
    assert (count, problems.count) == (2, 0)


def test_a_pipe_is_read_although_it_opens_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(GOOD,))
    writer.start()
    count, _ = read(pipe)
    writer.join()
    assert count == 2


def test_an_unknown_format_name_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"unknown format \(.otlp.\).*otlp-json"):
        read_bytes(GOOD, format_name="otlp")


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_damage_in_the_middle_keeps_what_came_before(kind: str) -> None:
    line = GOOD + b"\n"
    noise = b'{"resourceSpans": [], "x": "' + os.urandom(200_000).hex().encode() + b'"}\n'
    compress = gzip.compress if kind == "gzip" else zstandard.compress
    data = compress(line) + compress(noise)
    read = read_bytes(data[:-5000])
    assert len(read.spans) == 2
    assert f"the {kind} stream ends early or is damaged" in read.messages[-1]


def test_a_zstd_bomb_is_refused_in_bounded_memory() -> None:
    bomb = zstandard.compress(bytes(200 * 1024**2))
    assert len(bomb) < 20_000
    with source_of(bomb).open() as stream, pytest.raises(InputError, match="limit of 200:1"):
        while stream.read(1 << 20):
            pass


def test_the_expanded_size_has_a_limit_whatever_the_ratio() -> None:
    data = gzip.compress(os.urandom(300_000))
    source = FileSource("x", io.BytesIO(data), 200_000)
    with source.open() as stream, pytest.raises(InputError, match="limit of 200,000 bytes"):
        stream.read()


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("encode", ["json", "protobuf"])
def test_records_of_the_collector_that_are_compressed_each(compressed: bool, encode: str) -> None:
    given = [[span(1, start_ns=5)], [span(2, 1, 6), span(3, 1, 7)]]
    data = b""
    for part in given:
        record = json.dumps(as_json(part)).encode() if encode == "json" else as_protobuf(part)
        record = zstandard.compress(record) if compressed else record
        data += len(record).to_bytes(4, "big") + record
    read = read_bytes(data)
    assert read.messages == []
    assert read.spans == [s for part in given for s in part]
    cut = read_bytes(data[:-3])
    assert cut.spans == given[0]
    assert cut.problems.count >= 1


@pytest.mark.parametrize(("text", "size"), [("7", 7), ("2KiB", 2048), ("1.5 gb", 1_500_000_000)])
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    [
        *("4 apples", "", " 7", "7 ", "7\n", "\u0664MB", "-1", "1e3"),
        *("0", "0.4", "2000TB", "9" * 400),
    ],
)
def test_a_size_that_is_none(text: str) -> None:
    with pytest.raises(UsageError, match="is no size"):
        parse_size(text)


@pytest.mark.parametrize("damage", [b"\x1f\x8b" + b"\x99" * 400, gzip.compress(GOOD, mtime=0)[:25]])
def test_a_gzip_of_which_nothing_is_left_is_not_called_empty(damage: bytes, tmp_path: Path) -> None:
    path = tmp_path / "c.json.gz"
    path.write_bytes(damage)
    with pytest.raises(InputError, match="ends early or is damaged") as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert caught.value.hint
