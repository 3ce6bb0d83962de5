"""Splits a stream into JSON documents: lines, an array, documents one after the other, pretty text.

One thing a newcomer would get wrong: one document a line is the common case and streams; anything
else is read as a whole, since a document of its own may be of any size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from trajscope.errors import Location, Problems
from trajscope.ports import Source

MAX_DOCUMENT_BYTES = 512 * 1024**2
"""Longest line or document that is read; a longer one is reported and passed over."""

_BOM = b"\xef\xbb\xbf"
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]|"', re.DOTALL)
_raw_list = msgspec.json.Decoder(list[msgspec.Raw])


class Document(NamedTuple):
    """The bytes of one JSON document and where it starts."""

    text: bytes
    at: Location


def is_complete(text: bytes) -> bool:
    """Whether `text` is one whole JSON value."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def iter_documents(source: Source, problems: Problems) -> Iterator[Document]:
    """Yield the JSON documents of a source in order; members of a top-level array one by one.

    What is no JSON is reported with its line and passed over.
    """
    if _is_lines(source.head):
        yield from _lines(source, problems)
    else:
        yield from _whole(source, problems)


def _is_lines(head: bytes) -> bool:
    """Whether the head looks like one document a line rather than one document over many."""
    lines = [s for line in head.removeprefix(_BOM).split(b"\n") if (s := line.strip())]
    if not lines or lines[0][:1] == b"[":
        return False
    if len(lines) == 1 or lines[0][:1] not in b"{":
        return True
    return len(lines[0]) > 1 and (is_complete(lines[0]) or lines[1].startswith(b"{"))


def _lines(source: Source, problems: Problems) -> Iterator[Document]:
    with source.open() as stream:
        number = 0
        while line := stream.readline(MAX_DOCUMENT_BYTES + 1):
            number += 1
            at = Location(source.name, line=number)
            if len(line) > MAX_DOCUMENT_BYTES:
                problems.add(
                    f"line longer than {MAX_DOCUMENT_BYTES:,} bytes; it is passed over", at=at
                )
                while line and not line.endswith(b"\n"):
                    line = stream.readline(MAX_DOCUMENT_BYTES)
                continue
            text = (line.removeprefix(_BOM) if number == 1 else line).strip(b" \t\r\n\x00")
            if text:
                yield from _split(text, at, problems)


def _split(text: bytes, at: Location, problems: Problems) -> Iterator[Document]:
    """Yield the document of a line; several, if they stand on one line."""
    if is_complete(text):
        yield from _members(Document(text, at))
        return
    start = 0
    for end in _ends(text):
        part = text[start:end].strip()
        if not is_complete(part):
            break
        yield from _members(Document(part, at))
        start = end
    if rest := text[start:].strip():
        problems.add(f"{_fault(rest)}; it is passed over", at=at)


def _whole(source: Source, problems: Problems) -> Iterator[Document]:
    with source.open() as stream:
        text = stream.read(MAX_DOCUMENT_BYTES + 1)
    if len(text) > MAX_DOCUMENT_BYTES:
        problems.add(
            f"one document of more than {MAX_DOCUMENT_BYTES:,} bytes; it is passed over",
            at=Location(source.name),
            hint="write one document a line: such files are read as a stream",
        )
        return
    text = text.removeprefix(_BOM)
    if is_complete(text):
        yield from _members(Document(text, Location(source.name, line=1)))
        return
    start, line = 0, 1
    for end in _ends(text):
        part = text[start:end]
        line += len(part[: len(part) - len(part.lstrip())].split(b"\n")) - 1
        at = Location(source.name, line=line)
        if is_complete(part):
            yield from _members(Document(part.strip(), at))
        else:
            problems.add(f"{_fault(part.strip())}; it is passed over", at=at)
        line += part.strip().count(b"\n")
        start = end
    rest = text[start:]
    if rest.strip():
        line += len(rest[: len(rest) - len(rest.lstrip())].split(b"\n")) - 1
        yield from _rest(rest.strip(), Location(source.name, line=line), problems)


def _rest(rest: bytes, at: Location, problems: Problems) -> Iterator[Document]:
    """What follows the last whole document: cut. Of a cut array the whole members are kept."""
    if rest[:1] == b"[":
        start = 1
        for end in _ends(rest, start, depth=0):
            part = rest[start:end].strip(b" \t\r\n,")
            if is_complete(part):
                yield Document(part, at)
            start = end
        rest = rest[start:].strip(b" \t\r\n,") or rest
    problems.add(f"{_fault(rest)}; it is passed over", at=at)


def _ends(text: bytes, start: int = 0, depth: int = 0) -> Iterator[int]:
    """Yield the offsets behind every object or array that closes at the outermost level."""
    for token in _TOKEN.finditer(text, start):
        char = text[token.start()]
        if char in b"{[":
            depth += 1
        elif char in b"}]":
            depth -= 1
            if depth == 0:
                yield token.end()
            depth = max(depth, 0)
        elif token.end() - token.start() == 1:  # a quote that is never closed
            return


def _members(document: Document) -> Iterator[Document]:
    if document.text[:1] != b"[":
        yield document
        return
    for number, raw in enumerate(_raw_list.decode(document.text), start=1):
        at = Location(document.at.path, line=document.at.line, record=number)
        yield Document(bytes(raw), at)


def _fault(text: bytes) -> str:
    """Say why `text` is no JSON document."""
    if text[:1] not in b"{[":
        return f"no JSON (got {text[:40]!r}); expected a JSON document"
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return f"invalid UTF-8 at byte {error.start}; expected a JSON document"
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except RecursionError:
        return "nested too deep; expected a JSON document"
    except msgspec.DecodeError as error:
        if "truncated" in str(error):
            return f"incomplete JSON (ends with {text[-40:]!r})"
        return f"no JSON ({error}); expected a JSON document"
    return "no JSON document"
