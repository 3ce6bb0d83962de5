"""Ctrl-C, once or more: the statement has ended before anybody goes on."""

from __future__ import annotations

import _thread
import threading
from concurrent.futures import Future

import pytest

from trajscope.store.hearing import _end, heard


def test_a_second_ctrl_c_does_not_leave_the_statement_running() -> None:
    begun, may_end, ended = threading.Event(), threading.Event(), threading.Event()
    presses: list[int] = []

    def work() -> None:
        begun.set()
        may_end.wait(10)
        ended.set()

    def interrupt() -> None:
        presses.append(len(presses))
        if len(presses) < 4:
            raise KeyboardInterrupt  # pressed again
        may_end.set()

    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        heard(interrupt, work)
    timer.join()
    assert begun.is_set()
    assert ended.is_set()
    assert len(presses) >= 4


def test_work_that_has_ended_is_not_interrupted() -> None:
    done: Future[int] = Future()
    done.set_result(1)
    _end(done, lambda: pytest.fail("was interrupted"))
