"""Old traces out of a store: when "before" is, and what may be asked."""

from __future__ import annotations

import time

from trajscope.conventions import Reader
from trajscope.errors import UsageError
from trajscope.pipeline.times import parse_moment
from trajscope.store import Pruned, Store


def prune(
    store: Store, before: str, *, keep_scores: bool = False, dry_run: bool = False
) -> tuple[int, Pruned]:
    """Remove the traces whose last span started before a date or age; see `Store.prune`.

    Returns the time that was meant, in nanoseconds since the epoch, and what went.

    Raises:
        UsageError: `before` is no time in the past.
        StoreError: the store cannot be written; it is as it was.
    """
    now_ns = time.time_ns()
    before_ns = parse_moment("--before", before, now_ns)
    if before_ns > now_ns:  # a slip would empty the whole store
        raise UsageError(
            f"--before: lies in the future (got {before!r:.80}); expected a date that is past",
            hint="to remove everything, remove the file of the store",
        )
    return before_ns, store.prune(
        before_ns, keep_scores=keep_scores, dry_run=dry_run, read=Reader()
    )
