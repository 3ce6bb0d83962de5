"""Old traces out of a store, and what is left into files: when "before" is, and what may be asked.

One thing a newcomer would get wrong: a date without a time zone is UTC, as every time the store
shows is; "30d" is 30 times 24 hours before now, not a day of the calendar.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta

from trajscope.errors import UsageError
from trajscope.store import Pruned, Store

_AGE = re.compile(r"(?P<count>\d{1,6})\s*(?P<unit>[mhdw])", re.IGNORECASE)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EXPECTED = "expected a date (2026-11-01, 2026-11-01T08:00:00Z) or an age (90m, 12h, 30d, 4w)"


def parse_before(text: str, now_ns: int) -> int:
    """Return the time a text stands for, in nanoseconds since the epoch.

    >>> parse_before("1970-01-02", now_ns=10**18), parse_before("1d", now_ns=86_400 * 10**9 + 7)
    (86400000000000, 7)

    Raises:
        UsageError: it is no date and no age, or lies in the future, where a slip would empty the
            whole store.
    """
    age = _AGE.fullmatch(text.strip())
    if age:
        try:
            span = timedelta(**{_UNITS[age["unit"].lower()]: int(age["count"])})
        except (OverflowError, ValueError):
            raise UsageError(f"--before: is too long ago (got {text!r:.80}); {_EXPECTED}") from None
        return max(now_ns - _ns(span), -_FARTHEST_NS)
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(f"--before: no date and no age (got {text!r}); {_EXPECTED}") from None
    before_ns = _ns(moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH)
    if before_ns > now_ns:
        raise UsageError(
            f"--before: lies in the future (got {text!r}); expected a date that is past",
            hint="to remove everything, remove the file of the store",
        )
    return max(before_ns, -_FARTHEST_NS)


_FARTHEST_NS = 9_223_372_036_000_000_000
"""How far before the epoch a TIMESTAMP_NS can reach, in whole seconds."""


def _ns(span: timedelta) -> int:
    return span // timedelta(microseconds=1) * 1000


def prune(
    store: Store, before: str, *, keep_scores: bool = False, dry_run: bool = False
) -> tuple[int, Pruned]:
    """Remove the traces whose last span started before a date or age; see `Store.prune`.

    Returns the time that was meant, in nanoseconds since the epoch, and what went.

    Raises:
        UsageError: `before` is no time in the past.
        StoreError: the store cannot be written; it is as it was.
    """
    before_ns = parse_before(before, time.time_ns())
    return before_ns, store.prune(before_ns, keep_scores=keep_scores, dry_run=dry_run)
