"""Exceptions, exit codes, locations and the collector of problems in files.

A value in a message is shown up to 80 characters; whoever forgets is helped here, for what a file
or a command line holds may be megabytes.

One thing a newcomer would get wrong: a defect in a *trace* (an orphan, a cycle) is a `Repair` of
`model.repair`, never a `Problem`; a `Problem` is something wrong with a *file*.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

_MOST = 600
_START, _END = 400, 150


def shortened(text: str) -> str:
    """Return a message with the middle of very long lines left out.

    The start says what is wrong and the end what was expected, so neither is what goes.

    >>> shortened("got " + "x" * 1_000 + "; a name was expected")[390:440]
    'xxxxxxxxxx … 475 characters … xxxxxxxxxxxxxxxxxxxx'
    """
    if len(text) <= _MOST:
        return text
    return "\n".join(map(_shortened_line, text.split("\n")))


def _shortened_line(line: str) -> str:
    if len(line) <= _MOST:
        return line
    left_out = len(line) - _START - _END
    return f"{line[:_START]} … {left_out:,} characters … {line[-_END:]}"


class ExitCode(IntEnum):
    """What the process exit status means; other programs rely on it."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    INPUT = 3
    STORE = 4
    NOTHING_EVALUATED = 5
    UNAVAILABLE = 69
    INTERNAL = 70
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Location:
    """Where something is wrong; only the coordinates that are known are set.

    >>> str(Location("a.jsonl", line=7))
    'a.jsonl:7'
    >>> str(Location("e.yaml", line=3, column=5, key="steps[0].name"))
    'e.yaml:3:5 (steps[0].name)'
    """

    path: str | None = None
    line: int | None = None
    column: int | None = None
    record: int | None = None
    key: str | None = None

    def __str__(self) -> str:
        place = shortened(self.path or "")
        if self.line is not None:
            place += f":{self.line}"
            if self.column is not None:
                place += f":{self.column}"
        if self.record is not None:
            place += f" record {self.record}"
        if self.key:
            place += f" ({shortened(self.key)})"
        return place.strip()


class TrajscopeError(Exception):
    """Base of every error this package raises on purpose."""

    exit_code = ExitCode.INTERNAL

    def __init__(
        self, message: str, *, at: Location | None = None, hint: str | None = None
    ) -> None:
        self.message = shortened(message)
        self.at = at
        self.hint = hint and shortened(hint)
        super().__init__(self.message)

    def __str__(self) -> str:
        place = f"{self.at}: " if self.at and str(self.at) else ""
        hint = f"\nhint: {self.hint}" if self.hint else ""
        return f"{place}{self.message}{hint}"


class UsageError(TrajscopeError):
    """A bad flag, or a bad expectation or policy file."""

    exit_code = ExitCode.USAGE


def reason_of(error: Exception) -> str:
    """Return why the operating system refused, in its own words; else what the error says."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def unreadable(path: str, error: Exception, expected: str) -> UsageError:
    """Return that a file an option names (no capture) cannot be read, and what should be there.

    >>> print(unreadable("e.yaml", FileNotFoundError(2, "No such file"), "a YAML file"))
    e.yaml: cannot be read (No such file); expected a YAML file
    hint: check the name; it is looked for from the folder the command runs in
    """
    hint = (
        "check the name; it is looked for from the folder the command runs in"
        if isinstance(error, FileNotFoundError | NotADirectoryError)
        else "name a file that you may read"
    )
    why = reason_of(error)
    return UsageError(f"cannot be read ({why}); expected {expected}", at=Location(path), hint=hint)


def unwritable(path: str, error: OSError) -> UsageError:
    """Return that a file named on the command line cannot be written, and what should be there."""
    return UsageError(
        f"cannot be written ({reason_of(error)}); expected a file in a folder that is there",
        at=Location(path),
        hint="name a file where you may write and where there is room",
    )


class InputError(TrajscopeError):
    """A capture that cannot be read."""

    exit_code = ExitCode.INPUT


class UnknownFormat(InputError):  # noqa: N818 - the word users know it by
    """No registered format recognises the bytes of a capture."""


class DecodeError(InputError):
    """One record of a capture cannot be decoded."""


class SpanError(InputError):
    """A decoded record is no usable span, or a span that was asked for does not exist."""


class StoreError(TrajscopeError):
    """The DuckDB file cannot be opened, written or understood."""

    exit_code = ExitCode.STORE


class SchemaVersionError(StoreError):
    """The store was written by another schema version."""


class QueryError(StoreError):
    """A query was refused or failed."""


class ExportError(TrajscopeError):
    """A backend did not take all it was sent; what it did not confirm is sent the next time."""

    exit_code = ExitCode.UNAVAILABLE


class PluginError(TrajscopeError):
    """A plug-in file or entry point does not keep its contract."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a file, kept beside the good part of it."""

    message: str
    at: Location | None = None
    hint: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", shortened(self.message))
        if self.hint:
            object.__setattr__(self, "hint", shortened(self.hint))

    def __str__(self) -> str:
        return f"{self.at}: {self.message}" if self.at and str(self.at) else self.message

    def to_json(self) -> dict[str, object]:
        """Return the problem as JSON: `message`, and `path`, `line`, `record`, `hint` if known."""
        at = self.at or Location()
        known = {
            "path": at.path,
            "line": at.line,
            "record": at.record,
            "key": at.key,
            "hint": self.hint,
        }
        return {"message": self.message, **{k: v for k, v in known.items() if v is not None}}


@dataclass(slots=True)
class Problems:
    """Collects what is wrong with the files of one command.

    With `strict` the first problem is raised as an `InputError` instead. Only the first `keep`
    problems are kept in full, so a file of a million bad lines costs no memory; all are counted.
    `skipped` counts what was passed over on purpose (records of other signals), by kind.
    """

    strict: bool = False
    keep: int = 1000
    items: list[Problem] = field(default_factory=list)
    count: int = 0
    skipped: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Return what every document says of them: those kept, and how many there were."""
        return {"problems": [p.to_json() for p in self.items], "problem_count": self.count}

    def add(self, message: str, *, at: Location | None = None, hint: str | None = None) -> None:
        """Record one problem, or raise it when strict.

        Raises:
            DecodeError: when `strict`.
        """
        if self.strict:
            raise DecodeError(message, at=at, hint=hint)
        self.count += 1
        if len(self.items) < self.keep:
            self.items.append(Problem(message, at, hint))

    def skip(self, kind: str, count: int = 1) -> None:
        """Count `count` records of `kind` that are no spans and no fault either."""
        self.skipped[kind] = self.skipped.get(kind, 0) + count
