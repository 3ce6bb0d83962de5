"""Runs a statement of unknown length so that Ctrl-C ends it.

One thing a newcomer would get wrong: DuckDB looks for signals itself, but not while the main thread
is busy with a long piece of the statement. So the statement runs in another thread, and the main
one has nothing to do but listen.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")

_LISTEN_SECONDS = 0.2
"""A signal that another thread takes wakes nobody; this is when the main one looks."""


def heard(interrupt: Callable[[], None], work: Callable[[], T]) -> T:
    """Return what `work` returns; on Ctrl-C its statements are ended first, by `interrupt`.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed. Whatever `work` raises.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()  # signals do not come here
    done: Future[T] = Future()
    thread = threading.Thread(target=_fulfil, args=(done, work), daemon=True)
    # Not `thread.join`: interrupted, it takes the thread for ended (CPython before 3.13).
    try:
        thread.start()
        while not done.done():
            wait([done], _LISTEN_SECONDS)
    except KeyboardInterrupt:
        if thread.ident is not None:
            _end(done, interrupt)
        raise
    return done.result()


def _end(done: Future[T], interrupt: Callable[[], None]) -> None:
    """Interrupt until the work has ended, however often Ctrl-C is pressed meanwhile.

    Its cursor is closed next, which must not happen under a statement that runs.
    """
    while not done.done():
        with suppress(KeyboardInterrupt):
            interrupt()  # lost where the statement has not begun; then once more
            wait([done], _LISTEN_SECONDS)


def _fulfil(done: Future[T], work: Callable[[], T]) -> None:
    try:
        done.set_result(work())
    except BaseException as error:
        done.set_exception(error)
