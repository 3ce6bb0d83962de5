"""Rows of Parquet files as plain JSON values, a batch at a time.

One thing a newcomer would get wrong: a Parquet file says what it holds at its *end*. Its bytes are
spooled to disk when they come from something that cannot be read from the middle.
"""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, BinaryIO, cast
from weakref import WeakKeyDictionary

from trajscope.errors import InputError, Location, Problems
from trajscope.formats._row import Row
from trajscope.model.span import Json
from trajscope.otlp import Report
from trajscope.ports import Source

MAGIC = b"PAR1"
BATCH_ROWS = 1000
"""Rows decoded at once."""
_IN_MEMORY = 64 * 1024**2
_known: WeakKeyDictionary[Any, tuple[str, ...]] = WeakKeyDictionary()


def is_parquet(source: Source) -> bool:
    """Whether the bytes are a Parquet file's."""
    return source.head.startswith(MAGIC)


def parquet_columns(source: Source) -> tuple[str, ...]:
    """Return the names of the columns; () if the file cannot be read.

    Every Parquet format asks, so the answer is kept as long as the source lives.
    """
    with suppress(TypeError):  # of a source that cannot be referred to weakly
        if source in _known:
            return _known[source]
    faults = _faults()
    try:
        with _random_access(source) as stream:
            columns = tuple(_file(stream).schema_arrow.names)
    except InputError:
        columns = ()
    except faults:
        columns = ()
    with suppress(TypeError):
        _known[source] = columns
    return columns


def parquet_rows(source: Source, problems: Problems) -> Iterator[Row]:
    """Yield the rows in order; what cannot be read is a problem, the rows before it stay."""
    number = 0
    with _random_access(source) as stream:
        try:
            for batch in _file(stream).iter_batches(batch_size=BATCH_ROWS):
                names = batch.schema.names
                columns = [_values(batch.column(i)) for i in range(len(names))]
                for values in zip(*columns, strict=True):
                    number += 1
                    at = Location(source.name, record=number)
                    yield Row(dict(zip(names, values, strict=True)), Report(problems, at))
        except _faults() as error:
            problems.add(
                f"Parquet file damaged after {number:,} rows ({_first_line(error)}); "
                "the rest is passed over",
                at=Location(source.name),
            )


def _file(stream: BinaryIO) -> Any:
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(stream, pre_buffer=False)


def _faults() -> tuple[type[Exception], ...]:
    """What reading a damaged file may raise: some of Arrow's errors are no `ArrowException`."""
    import pyarrow

    own = cast("type[Exception]", pyarrow.ArrowException)
    return (own, OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def _random_access(source: Source) -> BinaryIO:
    """The bytes as a stream that can be read anywhere: the file itself, or a copy on disk."""
    open_raw = getattr(source, "open_raw", None)
    if open_raw is not None:
        raw = cast("BinaryIO", open_raw())
        if raw.seekable() and raw.read(len(MAGIC)) == MAGIC:
            raw.seek(0)
            return raw
        raw.close()
    spool = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed by the caller
    with source.open() as stream:
        while chunk := stream.read(1 << 20):
            spool.write(chunk)
    spool.seek(0)
    return cast("BinaryIO", spool)


def _values(column: Any) -> Sequence[Json]:
    """The values of one column; times as ISO text to the nanosecond, as JSON exports have them."""
    import pyarrow as pa

    for leaf in (_to_utc, _to_text):
        wanted = _with_times(column.type, leaf)
        if wanted != column.type:
            column = column.cast(wanted)
    values = cast("list[Json]", column.to_pylist())
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_boolean(kind) or pa.types.is_integer(kind):
        return values
    return [_plain(value, kind) for value in values]


def _with_times(kind: Any, leaf: Callable[[Any], Any]) -> Any:
    """The type with `leaf` of its timestamps, at any depth."""
    import pyarrow as pa

    if pa.types.is_timestamp(kind):
        return leaf(kind)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_with_times(kind.value_type, leaf))
    if pa.types.is_struct(kind):
        fields = (kind.field(i) for i in range(kind.num_fields))
        return pa.struct([pa.field(f.name, _with_times(f.type, leaf)) for f in fields])
    return kind


def _to_utc(kind: Any) -> Any:
    """The same instants told in UTC, for which no machine needs a table of time zones."""
    import pyarrow as pa

    return kind if kind.tz is None else pa.timestamp(kind.unit, "UTC")


def _to_text(_: Any) -> Any:
    import pyarrow as pa

    return pa.string()


def _plain(value: Any, kind: Any) -> Json:
    """A value as JSON has it: maps are objects, bytes text, NaN and what else is unknown null."""
    import pyarrow as pa

    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if value == value else None
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return base64.b64encode(value).decode()
    kind = getattr(kind, "storage_type", kind)
    if pa.types.is_map(kind):
        return {str(_plain(k, kind.key_type)): _plain(v, kind.item_type) for k, v in value}
    if isinstance(value, dict):
        return {str(k): _plain(v, kind.field(k).type) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(item, kind.value_type) for item in value]
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
