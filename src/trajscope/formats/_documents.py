"""Splits a stream into JSON documents: lines, arrays, documents one after the other, pretty text.

One thing a newcomer would get wrong: nothing is read whole. Brackets and commas between documents
are separators, so an array streams member by member; a document over many lines is gathered until
it is whole, and if it never is, reading goes on behind its first line. Only one document is held
at a time, so a capture that is one object of 140 MB costs those 140 MB.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from trajscope.errors import Location, Problems
from trajscope.formats._lines import Lines
from trajscope.formats._mend import mended
from trajscope.formats._parts import FilePart
from trajscope.ports import Source

MAX_DOCUMENT_BYTES = 1024**3
"""Longest document that is read; a longer one is reported and passed over."""
MAX_READ_AGAIN_BYTES = 64 * 1024**2
"""Bytes behind broken documents that are looked through again before giving up on a capture."""

_SEPARATORS = re.compile(rb"[\s,\x00\[\]]*")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_FIRST_KEY = re.compile(rb'\{\s*"[^"\\]*"')
_TRAILING = re.compile(r"trailing characters \(byte (\d+)\)")
_MAX_HINTS = 8
_raw = msgspec.json.Decoder(msgspec.Raw).decode


class Document(NamedTuple):
    """The bytes of one JSON document, where it starts, and what `decode` made of it, if anything.

    at: path and line; record: the number within its array.
    """

    text: bytes
    at: Location
    value: object = None


class _Fault(Exception):  # noqa: N818 - never leaves this module
    """The text does not start with a whole document. cut: it may be whole with more text."""

    def __init__(self, message: str, offset: int = 0, *, cut: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.cut = cut


def is_text(head: bytes) -> bool:
    """Whether the start of a capture is text as JSON may hold it, broken lines included.

    Protobuf always has bytes below the space besides white space near its start.
    """
    return _CONTROL.search(head, 0, 4096) is None


def iter_documents(
    source: Source, problems: Problems, decode: Callable[[bytes], object] = _raw
) -> Iterator[Document]:
    """Yield the JSON documents of a source in order; members of a top-level array one by one.

    What is no JSON is reported with its line and passed over. `decode` is tried on documents that
    have a line to themselves, to spare them a second look; it may refuse any of them.
    """
    part = source if isinstance(source, FilePart) else None
    with source.open() as stream:
        lines = Lines(stream, MAX_DOCUMENT_BYTES, source.name, problems, part.before if part else 0)
        splitter = _Splitter(lines, source.name, problems, decode)
        yield from splitter.documents()
    if part is not None:
        part.odd |= splitter.odd
        part.given = lines.given - part.before


class _Splitter:
    def __init__(
        self, lines: Lines, name: str, problems: Problems, decode: Callable[[bytes], object]
    ) -> None:
        self._lines = lines
        self._name = name
        self._problems = problems
        self._decode = decode
        self._open_arrays: list[int] = []
        self._members = 0
        self._cut = False
        self._again = 0
        self.odd = False
        """Whether there was anything but whole documents, each on a line of its own."""

    def documents(self) -> Iterator[Document]:
        """Yield every document."""
        for number, line in self._lines:
            yield from self._on_line(number, line)
        if self._open_arrays and not self._cut:
            self._report(self._open_arrays[0], "incomplete JSON (an array is never closed)")

    def _on_line(self, number: int, line: bytes) -> Iterator[Document]:
        start = 0
        while (start := self._past_separators(number, line, start)) < len(line):
            self.odd |= start > 0
            try:
                end, value = self._measure(line, start)
            except _Fault as fault:
                self.odd = True
                rest = line[start:]
                if (better := mended(rest)) is not None:
                    line, start = better, 0
                    continue
                if fault.cut:
                    document = self._gather(number, rest, column=start)
                    if document is not None:
                        yield document
                elif _breaks_off(rest, fault.offset, 0):
                    self._report_cut(number, rest)
                else:
                    self._report(number, fault.message)
                return
            yield self._document(number, line[start:end], value)
            start = end

    def _document(self, number: int, text: bytes, value: object = None) -> Document:
        record = None
        if self._open_arrays:
            self._members += 1
            record = self._members
        return Document(text, Location(self._name, line=number, record=record), value)

    def _past_separators(self, number: int, line: bytes, start: int) -> int:
        found = _SEPARATORS.match(line, start)
        end = found.end() if found else start
        for char in line[start:end]:
            self.odd |= char not in b"\r\n"
            if char == 0x5B:
                self._open_arrays.append(number)
                self._members = 0
            elif char == 0x5D and self._open_arrays:
                self._open_arrays.pop()
        return end

    def _measure(self, line: bytes, start: int) -> tuple[int, object]:
        """Return where the document at `start` ends, and its decoded value if it ends the line."""
        if start == 0:
            try:
                return len(line), self._decode(line)
            except (msgspec.MsgspecError, ValueError, RecursionError):
                pass
        return start + _end_of_first(memoryview(line)[start:]), None

    def _gather(self, number: int, first: bytes, column: int) -> Document | None:
        """Return the document that begins with `first` and goes on over the next lines.

        A following line that starts with the same key at the left margin is the next of a file
        of JSON lines: then this one was cut.
        """
        key = _FIRST_KEY.match(first)
        text, more, size, hints = first, [first], len(first), 0
        next_try = 2 * size
        for _, line in self._lines:
            if key is not None and line.startswith(key[0]):
                self._lines.push_back(line)
                self._report_cut(number, b"".join(more))
                return None
            more.append(mended(line) or line)
            size += len(line)
            if size > MAX_DOCUMENT_BYTES:
                self._report(number, f"a document of more than {MAX_DOCUMENT_BYTES:,} bytes")
                self._lines.skip_to_opener(column)
                return None
            closes = hints < _MAX_HINTS and _closes(line, column)
            if size < next_try and not closes:
                continue
            hints += closes
            text = b"".join(more)
            more, next_try = [text], 2 * size
            try:
                end = _end_of_first(text)
            except _Fault as fault:
                if not fault.cut:
                    self._resume_behind(number, text, column, fault)
                    return None
            else:
                return self._whole(number, text, end)
        text = b"".join(more)
        try:
            return self._whole(number, text, _end_of_first(text))
        except _Fault as fault:
            self._resume_behind(number, text, column, fault)
            return None

    def _whole(self, number: int, text: bytes, end: int) -> Document:
        if end < len(text):
            self._lines.push_back(text[end:])
        return self._document(number, text[:end])

    def _resume_behind(self, number: int, text: bytes, column: int, fault: _Fault) -> None:
        """Report a broken document and go on with the next line that may start one."""
        if fault.cut or _breaks_off(text, fault.offset, column):
            self._report_cut(number, text[: fault.offset] or text)
        else:
            self._report(number + text.count(b"\n", 0, fault.offset), fault.message)
        rest = text[text.find(b"\n") + 1 :] if b"\n" in text else b""
        self._again += len(rest)
        if self._again > MAX_READ_AGAIN_BYTES:
            self._report(number, "too many broken documents; the rest of the capture is left out")
            self._lines.stop()
            return
        self._lines.push_back(rest)
        self._lines.skip_to_opener(column)

    def _report_cut(self, number: int, text: bytes) -> None:
        self._cut = True
        self._report(number, f"incomplete JSON (ends with {text.rstrip()[-40:]!r})")

    def _report(self, number: int, message: str) -> None:
        self._problems.add(f"{message}; it is left out", at=Location(self._name, line=number))


def _closes(line: bytes, column: int) -> bool:
    """Whether a line of pretty text may close the document that began at `column`."""
    bare = line.lstrip(b" \t")
    return bare[:1] in (b"}", b"]") and len(line) - len(bare) <= column


def _breaks_off(text: bytes, offset: int, column: int) -> bool:
    """Whether a fault lies where a line ends, or where the next document opens at the margin."""
    line_start = text.rfind(b"\n", 0, offset) + 1
    opens = text[offset : offset + 1] in (b"{", b"[")
    at_margin = opens and line_start > 0 and offset - line_start <= column
    return text[offset : offset + 1] in (b"\r", b"\n") or at_margin


def _end_of_first(text: bytes | memoryview) -> int:
    """Return where the first document of `text` ends (behind the white space after it).

    Raises:
        _Fault: it does not start with a whole document.
    """
    try:
        _raw(text)
    except RecursionError:
        raise _Fault("nested too deep; expected fewer than about 1,000 levels") from None
    except msgspec.DecodeError as error:
        message = str(error)
        if (trailing := _TRAILING.search(message)) is not None:
            return int(trailing[1]) - 1  # it counts bytes from one here
        if message == "Input data was truncated":
            raise _Fault(message, cut=True) from None
        offset = re.search(r"byte (\d+)", message)
        at = int(offset[1]) if offset else 0
        got = bytes(text[max(0, at - 20) : at + 20])
        raise _Fault(f"no JSON ({message}, near {got!r}); expected a JSON document", at) from None
    return len(text)
