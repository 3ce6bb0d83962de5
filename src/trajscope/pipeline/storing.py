"""Captures into a store: read, classified, written, one transaction per capture.

One thing a newcomer would get wrong: a span is read by its convention once, here, and whatever is
asked of it later uses that reading; only log records that speak of it make the store read it again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from trajscope.conventions import Reader
from trajscope.errors import InputError, Problems
from trajscope.formats import (
    FileSource,
    choose_format,
    parse_size,
    read_capture,
    recognised_sources,
    unreadable_capture,
)
from trajscope.model.span import Span
from trajscope.pipeline.dropping import Dropper
from trajscope.pipeline.load import InputOptions
from trajscope.pipeline.parallel import Workers
from trajscope.pipeline.redaction import masked
from trajscope.pipeline.taking import Taker
from trajscope.store import CaptureInfo, IngestReport, LogRow, Record, Store

Progress = Callable[[str, int, float | None], None]
"""Called with the name of a capture, the number of spans read of it so far, and the share of its
bytes that is read, None where that is not known."""

_TELL_EVERY = 1000


class _Readers(NamedTuple):
    """What reads the captures of one ingest; made once, since it remembers what it has seen.

    take: of what comes in. again: of stored spans that log records speak of.
    """

    take: Taker
    again: Reader


class Ingested(NamedTuple):
    """One capture with what its ingest did."""

    name: str
    format: str
    report: IngestReport


def ingest(
    targets: Sequence[str],
    store: Store,
    options: InputOptions,
    progress: Progress = lambda _name, _count, _share: None,
    *,
    jobs: int = 1,
) -> Iterator[Ingested]:
    """Take every capture at `targets` into the store, and yield what each did.

    jobs: processes that read large captures; with more than one, a program that calls this needs
    the `if __name__ == "__main__":` that worker processes ask for.

    Raises:
        InputError: see `formats.read_captures`; captures before it are stored, it itself is not.
        StoreError: the store cannot be written.
    """
    limit = parse_size(options.max_expanded)
    readers = _Readers(Taker(options.reader(), Dropper(options.drop_attributes)), Reader())
    # Masks are made with a secret of this process: elsewhere the same secret would look different.
    with Workers(options, 1 if options.redactor is not None else jobs) as workers:
        for source in recognised_sources(
            targets,
            options.problems,
            format_name=options.format_name,
            max_expanded=limit,
            besides=_files_of(store),
        ):
            yield _ingest_one(source, store, options, progress, workers, readers)


def _files_of(store: Store) -> list[Path]:
    """Return the store's own files, which may lie among the captures."""
    return (
        [] if store.path is None else [store.path, store.path.with_name(f"{store.path.name}.wal")]
    )


def _ingest_one(
    source: FileSource,
    store: Store,
    options: InputOptions,
    progress: Progress,
    workers: Workers,
    readers: _Readers,
) -> Ingested:
    format_ = choose_format(source, options.format_name)
    own = Problems(strict=options.strict)
    state = source.state()

    def classified() -> Iterator[Record | LogRow]:
        count = 0
        for record in masked(read_capture(source, own, format_name=options.format_name), options):
            if isinstance(record, Span):
                count += 1
                if count % _TELL_EVERY == 0:
                    progress(source.name, count, source.share)
            yield readers.take(record)

    def info() -> CaptureInfo:
        content = hashed()
        source.refuse_change(state)
        return CaptureInfo(
            id=content,
            name=source.name,
            format=format_.name + options.mapping_mark(),
            skipped=dict(own.skipped),
            problems=tuple(own.items),
            problem_count=own.count,
            dropped_attributes=options.drop_attributes,
        )

    hashed: Callable[[], str] = partial(content_hash, source)
    try:
        file = workers.takes(source, format_)
        if file is None:
            report = store.ingest(info, classified(), readers.again)
        else:
            with ThreadPoolExecutor(1) as beside:  # a core is idle while the workers load
                hashed = beside.submit(content_hash, source).result
                parts = workers.batches(source, file, format_, own, progress)
                report = store.ingest_batches(info, parts, readers.again)
    except InputError:
        source.refuse_change(state)  # says more than what a file that is gone cannot be
        raise
    _add(options.problems, own)
    return Ingested(source.name, format_.name, report)


def _add(problems: Problems, own: Problems) -> None:
    """Add the problems of one capture to those of the command."""
    problems.count += own.count
    problems.items += own.items[: problems.keep - len(problems.items)]
    for kind, count in own.skipped.items():
        problems.skip(kind, count)


def content_hash(source: FileSource) -> str:
    """Return the SHA-256 of a capture's stored bytes, in hex.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        with source.open_raw() as raw:
            return hashlib.file_digest(raw, "sha256").hexdigest()
    except OSError as error:
        raise unreadable_capture(source.name, error) from error
