"""Formats made of records: JSON (an array, lines, an envelope around a list) or rows of Parquet.

One thing a newcomer would get wrong: a record may give several spans (a whole trace), and what is
wrong with one of them is never the end of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import msgspec

from trajscope.errors import Problems, SpanError
from trajscope.formats._documents import Document, iter_documents
from trajscope.formats._parquet import is_parquet, parquet_columns, parquet_rows
from trajscope.formats._peek import decode_json, first_records
from trajscope.formats._row import Row
from trajscope.model.span import Json, Span
from trajscope.otlp import Report, shown
from trajscope.ports import Source

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_items = msgspec.json.Decoder(list[msgspec.Raw])
_validate = msgspec.json.Decoder(msgspec.Raw).decode


@dataclass(frozen=True)
class RowFormat:
    """A format whose captures are records.

    judge: how surely a record is of this format, from its members (of a Parquet file only their
    names are known, their values are null; of a cut record only the first members). members: the
    lists of an envelope that hold the records.
    """

    name: str
    description: str
    judge: Callable[[dict[str, Json]], int]
    read_row: Callable[[Row], Iterable[Span]]
    members: tuple[str, ...] = ()
    has_parquet: bool = False

    def sniff(self, source: Source) -> int:
        """Return how surely one of the first records is of this format."""
        if is_parquet(source):
            columns = parquet_columns(source) if self.has_parquet else ()
            return self.judge(dict.fromkeys(columns)) if columns else 0
        records = first_records(source.head, self.members)
        return max((self.judge(record) for record in records), default=0)

    def read(self, source: Source, problems: Problems) -> Iterator[Span]:
        """Yield the spans of every record, in file order."""
        return build_each(iter_rows(source, problems, self.members), self.read_row)


def build_each(rows: Iterable[Row], build: Callable[[Row], Iterable[Span]]) -> Iterator[Span]:
    """Yield what `build` makes of each row; a row it refuses is reported and left out."""
    for row in rows:
        try:
            yield from build(row)
        except SpanError as error:
            row.report.add_error(error, lost="the record is left out")


def iter_rows(source: Source, problems: Problems, members: tuple[str, ...] = ()) -> Iterator[Row]:
    """Yield the records of a capture, however they are wrapped."""
    if is_parquet(source):
        yield from parquet_rows(source, problems)
        return
    decode = _validate if members else msgspec.json.decode
    for document in iter_documents(source, problems, decode):
        yield from _unwrapped(document, problems, members)


def _unwrapped(document: Document, problems: Problems, members: tuple[str, ...]) -> Iterator[Row]:
    """Yield the record a document is, or the records in the list of an envelope, one at a time."""
    report = Report(problems, document.at)
    try:
        listed = _list_in(document, members)
        if listed is None:
            value = document.value if not members else None
            yield from _row(decode_json(document.text) if value is None else value, report)
            return
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        report.add(f"cannot be decoded ({error}); the record is left out")
        return
    for number, raw in enumerate(listed, start=1):
        report = Report(problems, replace(document.at, record=number))
        try:
            value = decode_json(bytes(raw))
        except ValueError as error:
            report.add(f"cannot be decoded ({error}); the record is left out")
        else:
            yield from _row(value, report)


def _row(value: Json, report: Report) -> Iterator[Row]:
    if isinstance(value, dict):
        yield Row(value, report)
    else:
        report.add(f"no record (got {shown(value)}); expected a JSON object")


def _list_in(document: Document, members: tuple[str, ...]) -> list[msgspec.Raw] | None:
    """The records of an envelope, still encoded; None for a record of its own."""
    if not any(name.encode() in document.text for name in members):
        return None
    parts = _members.decode(document.text)
    for name in members:
        if name in parts and bytes(parts[name])[:1] == b"[":
            return _items.decode(parts[name])
    return None
