"""Chooses the format of a capture by content; the only caller of `sniff` and `read`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from trajscope.errors import (
    InputError,
    Location,
    PluginError,
    Problem,
    Problems,
    TrajscopeError,
    UnknownFormat,
    UsageError,
)
from trajscope.formats._expand import DEFAULT_MAX_EXPANDED
from trajscope.formats._source import FileSource, find_sources, unreadable_capture
from trajscope.model.span import LogRecord, Span
from trajscope.ports import Format, Source
from trajscope.registry import discover


@cache
def formats() -> dict[str, Format]:
    """Return every known format by name: the package's own and those of entry points."""
    return discover("trajscope.formats", "FORMAT", Format)  # type: ignore[type-abstract]


def format_named(name: str) -> Format:
    """Return the format of a name.

    Raises:
        UsageError: there is none.
    """
    known = formats()
    if name not in known:
        raise UsageError(
            f"unknown format ({name!r}); expected one of {', '.join(sorted(known))}",
            at=Location("--input-format"),
            hint="leave it out: a format is recognised by content",
        )
    return known[name]


def choose_format(source: FileSource, format_name: str | None = None) -> Format:
    """Return the named format, or the one that is surest of the capture.

    Raises:
        UsageError: no format has the name.
        UnknownFormat: no format recognises the capture.
        InputError: the capture is empty.
    """
    if format_name is not None:
        return format_named(format_name)
    known = formats()
    head = source.head
    if not head and source.head_fault:
        raise _broken(source)
    if not head.strip():
        what = "is empty" if not head else "holds only white space"
        raise Empty(f"{what}; expected a capture", at=Location(source.name))
    sure, surest = max(
        ((_sniff(f, source), f) for f in known.values()), key=lambda pair: (pair[0], pair[1].name)
    )
    if not sure and source.head_fault:
        raise _broken(source)
    if not sure:
        raise UnknownFormat(
            f"no known format (starts with {head[:40]!r}); "
            f"expected one of {', '.join(sorted(known))}",
            at=Location(source.name),
            hint=_hint(head),
        )
    return surest


def _broken(source: FileSource) -> InputError:
    return InputError(
        f"{source.head_fault}; nothing of it can be read",
        at=Location(source.name),
        hint="get the file again; it was cut or damaged on its way",
    )


def _sniff(format_: Format, source: FileSource) -> int:
    """Ask a format; one that crashes here would otherwise stop the reading of every capture."""
    try:
        return format_.sniff(source)
    except (TrajscopeError, OSError, MemoryError):
        raise
    except Exception as error:
        raise crashed(format_, source, error) from error


def crashed(format_: Format, source: Source, error: Exception) -> PluginError:
    """Say which format crashed on what: mostly one from outside, and then its author must know."""
    return PluginError(
        f"format {format_.name!r} crashed on {source.name}: {type(error).__name__}: {error}",
        hint="mend or uninstall the package it comes from; TRAJSCOPE_DEBUG=1 shows where",
    )


class Empty(InputError):  # noqa: N818 - the word users know it by
    """A capture without content."""


_FOREIGN = {
    b"PK\x03\x04": "this is a zip archive: unpack it first",
    b"BZh": "this is compressed with bzip2: unpack it first",
    b"\xfd7zXZ\x00": "this is compressed with xz: unpack it first",
    b"\x1f\x8b": "this is compressed twice: unpack it once",
    b"\x28\xb5\x2f\xfd": "this is compressed twice: unpack it once",
    b"\xff\xfe": "this is UTF-16 text, as PowerShell's > writes: convert it to UTF-8",
    b"\xfe\xff": "this is UTF-16 text: convert it to UTF-8",
}


def _hint(head: bytes) -> str:
    for magic, hint in _FOREIGN.items():
        if head.startswith(magic):
            return hint
    if head[257:262] == b"ustar":
        return "this is a tar archive: unpack it first"
    return "name the format with --input-format if it is one of these"


def read_capture(
    source: FileSource, problems: Problems, *, format_name: str | None = None
) -> Iterator[Span | LogRecord]:
    """Yield the records of one capture; what cannot be read goes to `problems`.

    Raises:
        InputError: see `choose_format`; or with strict problems, at the first of them.
    """
    chosen = choose_format(source, format_name)
    try:
        yield from chosen.read(source, problems)
    except OSError as error:
        raise unreadable_capture(source.name, error) from error
    except (TrajscopeError, MemoryError):
        raise
    except Exception as error:
        raise crashed(chosen, source, error) from error
    if source.fault:
        problems.add(source.fault, at=Location(source.name), hint="what came before was kept")


def read_captures(
    paths: Sequence[str],
    problems: Problems,
    *,
    format_name: str | None = None,
    max_expanded: int = DEFAULT_MAX_EXPANDED,
) -> Iterator[Span | LogRecord]:
    """Yield the records of all captures at `paths`, in order.

    A file met in a directory that is no capture is passed over and counted.

    Raises:
        InputError: a named path cannot be read or is no capture, or none of them holds one.
    """
    for source in recognised_sources(
        paths, problems, format_name=format_name, max_expanded=max_expanded
    ):
        yield from read_capture(source, problems, format_name=format_name)


def recognised_sources(
    paths: Sequence[str],
    problems: Problems,
    *,
    format_name: str | None = None,
    max_expanded: int = DEFAULT_MAX_EXPANDED,
    besides: Sequence[Path] = (),
) -> Iterator[FileSource]:
    """Yield the sources at `paths` whose format is known; see `read_captures`.

    besides: files that must not be opened, see `find_sources`.
    """
    with_captures: set[str | None] = set()
    before = len(problems.items)
    for source, folder in find_sources(paths, problems, max_expanded=max_expanded, besides=besides):
        try:
            choose_format(source, format_name)
        except (UnknownFormat, Empty):
            if folder is None:
                raise
            problems.skip("files that are no capture")
            continue
        except InputError as error:
            if folder is None:
                raise
            problems.add(error.message, at=error.at, hint=error.hint)
            continue
        with_captures.add(folder)
        yield source
    for path in paths:
        if path not in with_captures and Path(path).is_dir():
            raise _no_capture(Path(path), problems.items[before:])


def _no_capture(folder: Path, problems: Sequence[Problem]) -> InputError:
    """Say why a folder gave nothing: what could not be read in it, else that nothing is there."""
    told = [p for p in problems if p.at and p.at.path and Path(p.at.path).is_relative_to(folder)]
    if not told:
        return InputError(
            "no capture in this folder; expected trace files",
            at=Location(str(folder)),
            hint="trajscope reads " + ", ".join(sorted(formats())),
        )
    more = f" (and {len(told) - 1} more)" if len(told) > 1 else ""
    return InputError(
        f"nothing in this folder can be read; {told[0]}{more}", at=Location(str(folder))
    )
