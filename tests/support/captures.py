"""Reading bytes as a capture, without files."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

from trajscope.errors import Problems
from trajscope.formats import FileSource, read_capture
from trajscope.model.span import LogRecord, Span

CASES = Path(__file__).parents[1] / "cases"


@dataclass
class Read:
    """What came out of a capture."""

    records: list[Span | LogRecord]
    problems: Problems

    @property
    def spans(self) -> list[Span]:
        """The spans alone."""
        return [r for r in self.records if isinstance(r, Span)]

    @property
    def messages(self) -> list[str]:
        """The problems as text."""
        return [str(p) for p in self.problems.items]


def source_of(data: bytes, name: str = "capture") -> FileSource:
    """Return bytes as a source."""
    return FileSource(name, io.BytesIO(data))


def read_bytes(data: bytes, *, format_name: str | None = None, strict: bool = False) -> Read:
    """Return what `data` holds, read as a capture called "capture"."""
    problems = Problems(strict=strict)
    records = list(read_capture(source_of(data), problems, format_name=format_name))
    return Read(records, problems)


def read_file(path: Path) -> Read:
    """Return what a file holds."""
    problems = Problems()
    return Read(list(read_capture(FileSource(path.name, path), problems)), problems)
