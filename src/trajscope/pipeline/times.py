"""Times as people write them on the command line: a date, or how long ago.

One thing a newcomer would get wrong: a date without a time zone is UTC, as every time the store
shows is; "30d" is 30 times 24 hours before now, not a day of the calendar.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from trajscope.errors import UsageError
from trajscope.rules._units import duration_ns

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FARTHEST_NS = 9_223_372_036 * 10**9
"""The last second a TIMESTAMP_NS can hold, in 2262; as far before the epoch the first."""


def parse_date(text: str) -> int | None:
    """Return the nanoseconds from the epoch to an ISO 8601 date or time; None: it is none.

    >>> parse_date("1970-01-02") == parse_date("1970-01-02T01:00:00+01:00") == 86_400 * 10**9
    True
    """
    if not text.isascii():  # what parts a date from a time may be any letter, a digit of another
        return None  # script too
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    since = moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH
    return since // timedelta(microseconds=1) * 1000


def parse_moment(option: str, text: str, now_ns: int) -> int:
    """Return the moment that the value of an option means, in nanoseconds since the epoch.

    A date that no column can hold is as good as the first or last time that one can; an age of
    centuries is a slip.

    >>> parse_moment("--since", "1d", 86_400 * 10**9 + 7)
    7

    Raises:
        UsageError: it is no date and no age, or too long ago.
    """
    age = duration_ns(text)
    if age is not None and age > _FARTHEST_NS:
        raise UsageError(
            f"{option}: is too long ago (got {text!r:.80}); at most 292 years were expected"
        )
    moment = parse_date(text) if age is None else now_ns - age
    if moment is None:
        raise UsageError(
            f"{option}: no date and no age (got {text!r:.80}); expected a date "
            "(2026-11-01, 2026-11-01T08:00:00Z) or an age (90m, 12h, 30d, 4w)"
        )
    return max(-_FARTHEST_NS, min(moment, _FARTHEST_NS))
