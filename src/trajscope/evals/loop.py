"""Coroutines from code that is none: an event loop of their own, wherever that code runs.

One thing a newcomer would get wrong: a notebook has a loop that is running already, in which
`asyncio.run` is refused; the coroutine then gets a thread too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine gives, or raise what it raises.

    >>> wait_for(asyncio.sleep(0, "done"))
    'done'
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
