"""Decompression with limits: gzip (several members) and zstd, recognised by content.

One thing a newcomer would get wrong: a ratio is only judged beyond 64 MiB, since small files of
repeated text honestly compress a thousandfold.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

from trajscope.errors import InputError, Location

if TYPE_CHECKING:
    import zstandard

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
DEFAULT_MAX_EXPANDED = 4 * 1024**3
"""Bytes a compressed capture may expand to."""
DEFAULT_MAX_RATIO = 200
"""Times its own size a compressed capture may expand to, once beyond 64 MiB."""
_RATIO_FROM = 64 * 1024**2
_RECORD_MAX = 512 * 1024**2
_ZSTD_STEP = 1024
"""Bytes fed to zstd at a time: four can stand for 128 KiB, so a step is bounded to 32 MiB."""


class _Reader(Protocol):
    def read(self, size: int, /) -> bytes: ...


def expanding(
    raw: io.BufferedReader, name: str, max_expanded: int, on_fault: Callable[[str], None]
) -> BinaryIO:
    """Return the decompressed stream of `raw`, or `raw` itself if it is not compressed.

    Closing it closes `raw`. A compressed stream that is cut or damaged ends where it breaks, and
    `on_fault` is told why. Reading raises an `InputError` beyond `max_expanded` bytes, or beyond
    200 times the compressed bytes; a limit raised above its default lifts the ratio as well.
    """
    start = raw.peek(8)[:8]
    delimited = start[4:8] == ZSTD or (start[:1] == b"\0" and start[4:5] == b"{")
    if not (start.startswith((GZIP, ZSTD)) or delimited):
        return raw
    counted = _Counted(raw)
    inner: _Reader
    if start.startswith(GZIP):
        kind, inner = "gzip", _Gzip(gzip.GzipFile(fileobj=cast("BinaryIO", counted), mode="rb"))
    elif start.startswith(ZSTD):
        kind, inner = "zstd", _Zstd(counted)
    else:
        kind, inner = "length-delimited", _Records(counted, min(max_expanded, _RECORD_MAX))
    max_ratio = DEFAULT_MAX_RATIO if max_expanded <= DEFAULT_MAX_EXPANDED else None
    limited = _Limited(inner, counted, kind, name, max_expanded, max_ratio, on_fault)
    return io.BufferedReader(limited, buffer_size=1 << 18)


class _Counted(io.RawIOBase):
    """Counts the compressed bytes taken from a stream."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.taken = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        data = self._stream.read(-1 if size is None else size)
        self.taken += len(data)
        return data

    def close(self) -> None:
        self._stream.close()
        super().close()


class _Gzip:
    """Reads gzip members piece by piece, so what came before a cut is not lost with it."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self.read = file.read1


class _Zstd:
    """Decompresses zstd frames one after the other, and notices when the last one is cut."""

    def __init__(self, stream: _Reader) -> None:
        import zstandard

        self._stream = stream
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=2**27)
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._compressed = b""
        self._ready = memoryview(b"")

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, none at the end.

        Raises:
            EOFError: the stream ends inside a frame.
        """
        while not self._ready:
            data = self._compressed or self._stream.read(_ZSTD_STEP)
            self._compressed = b""
            if not data:
                if self._frame is not None:
                    raise EOFError("it ends inside a frame")
                return b""
            self._frame = self._frame or self._decompressor.decompressobj()
            self._ready = memoryview(self._frame.decompress(data))
            if self._frame.eof:
                self._compressed = self._frame.unused_data
                self._frame = None
        part, self._ready = self._ready[:size], self._ready[size:]
        return bytes(part)


class _Records:
    """Records with a length of four bytes in front, each compressed by itself or JSON.

    So writes the Collector's file exporter as soon as it compresses or encodes. JSON becomes one
    document a line; protobuf keeps its length, now that of the expanded record.
    """

    def __init__(self, stream: _Reader, max_record: int) -> None:
        self._stream = stream
        self._max_record = max_record
        self._ready = memoryview(b"")

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, none at the end.

        Raises:
            EOFError: the stream ends inside a record, or a length is wrong.
        """
        while not self._ready:
            prefix = self._stream.read(4)
            if not prefix:
                return b""
            record = self._take(int.from_bytes(prefix, "big")) if len(prefix) == 4 else None
            if record is None:
                raise EOFError("it ends inside a record, or a length is wrong")
            if record.startswith(ZSTD):
                record = self._expand(record)
            is_json = record[:1] == b"{"
            whole = record + b"\n" if is_json else len(record).to_bytes(4, "big") + record
            self._ready = memoryview(whole)
        part, self._ready = self._ready[:size], self._ready[size:]
        return bytes(part)

    def _take(self, length: int) -> bytes | None:
        if length > self._max_record:
            return None
        record = self._stream.read(length)
        return record if len(record) == length else None

    def _expand(self, record: bytes) -> bytes:
        zstd, expanded = _Zstd(io.BytesIO(record)), bytearray()
        while part := zstd.read(1 << 20):
            expanded += part
            if len(expanded) > self._max_record:
                raise EOFError(f"a record expands beyond {self._max_record:,} bytes")
        return bytes(expanded)


class _Limited(io.RawIOBase):
    """Decompressed bytes, until the limits; a broken stream ends, and its fault is noted."""

    def __init__(
        self,
        inner: _Reader,
        counted: _Counted,
        kind: str,
        name: str,
        max_expanded: int,
        max_ratio: int | None,
        on_fault: Callable[[str], None],
    ) -> None:
        self._inner, self._counted, self._kind, self._name = inner, counted, kind, name
        self._max_expanded, self._max_ratio = max_expanded, max_ratio
        self._on_fault = on_fault
        self._given = 0
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._ended:
            return 0
        try:
            data = self._inner.read(len(buffer))
        except (EOFError, zlib.error, OSError) as error:
            return self._end(error)
        except Exception as error:
            if type(error).__name__ != "ZstdError":  # named, so that zstandard loads when needed
                raise
            return self._end(error)
        self._given += len(data)
        self._check()
        buffer[: len(data)] = data
        return len(data)

    def _end(self, error: Exception) -> int:
        self._ended = True
        self._on_fault(f"the {self._kind} stream ends early or is damaged ({error})")
        return 0

    def _check(self) -> None:
        if self._given > self._max_expanded:
            raise InputError(
                f"expands beyond the limit of {self._max_expanded:,} bytes",
                at=Location(self._name),
                hint="if you trust the file, raise the limit with --max-expanded",
            )
        taken = max(1, self._counted.taken)
        if self._max_ratio and self._given > max(_RATIO_FROM, self._max_ratio * taken):
            raise InputError(
                f"expands beyond the limit of {self._max_ratio}:1 ({self._given:,} bytes out of "
                f"{taken:,}), as a decompression bomb does",
                at=Location(self._name),
                hint="if you trust the file, raise the limit with --max-expanded: any size above "
                f"{DEFAULT_MAX_EXPANDED // 1024**3}GiB lifts the ratio too",
            )

    def close(self) -> None:
        self._counted.close()
        super().close()
