"""Starts the process that workers are forked from, before it is known that they are needed.

It loads what workers need, for half a second, while this process loads its own. One thing a
newcomer would get wrong: whoever imports this must not have imported the rest before, or there is
nothing left to gain; so nothing here imports the rest either.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.context import BaseContext
from pathlib import Path

LARGE_BYTES = 32 * 1024**2
"""A capture from here on starts the workers, which takes as long as reading a tenth of it."""

OF_READERS = ("trajscope.pipeline.parallel", "trajscope.pipeline._preload")
"""What workers that read captures need."""


def cores() -> int:
    """Return how many cores this process may use."""
    with suppress(AttributeError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def start_ahead(targets: Sequence[str]) -> None:
    """Start what workers are forked from, if a capture among the targets is worth workers."""
    if any(size >= LARGE_BYTES for size in _sizes(targets)):
        worker_context(OF_READERS)


def worker_context(modules: Sequence[str]) -> BaseContext:
    """Return how workers are started, the server that they are forked from running already.

    Never forked from here: DuckDB and Arrow have threads, which a fork would cut off. modules: what
    the workers need, loaded once in the server if this is who starts it.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    from multiprocessing.forkserver import ensure_running

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*modules])
    with _deaf(), _found_first():
        ensure_running()
    return context


@contextmanager
def _found_first() -> Iterator[None]:
    """Let what is started load this very package, if a script put its folder into `sys.path`.

    The server of Python 3.11 is not told of that; it would load another one that is installed.
    """
    folder = Path(__file__).absolute().parents[2]
    if folder.name in ("site-packages", "dist-packages"):  # first, those would hide others
        yield
        return
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(folder), before)))
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


@contextmanager
def _deaf() -> Iterator[None]:
    """Let what is started not hear Ctrl-C: this process stops it, in good order."""
    try:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    except ValueError:  # not the main thread, which alone can say so
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _sizes(targets: Sequence[str]) -> Iterator[int]:
    """Yield the sizes of the files at the targets, those right in a folder included."""
    for target in map(Path, targets):
        with suppress(OSError, ValueError):  # told when it is read
            for path in target.iterdir() if target.is_dir() else (target,):
                yield path.stat().st_size
