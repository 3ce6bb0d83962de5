"""Spans and log records on their way into a store: what is read of them, and what is kept.

One thing a newcomer would get wrong: a record is read before its attributes are dropped, as spans
are: as the span it may stand for, else as an event. The span it speaks of may come later and is
read with it then; of what was dropped it has that reading.
"""

from __future__ import annotations

from hashlib import blake2b

from trajscope.assemble import encoded, event_of, stood_for
from trajscope.conventions import Reader
from trajscope.model.reading import Reading
from trajscope.model.span import LogRecord, Span
from trajscope.pipeline.dropping import Dropper
from trajscope.redact import unkeyed
from trajscope.store import LogRow, Record


class Taker:
    """Makes of what a capture holds what goes into a store, for the captures of one run."""

    def __init__(self, read: Reader, drop: Dropper) -> None:
        self._read = read
        self._drop = drop

    def __call__(self, record: Span | LogRecord) -> Record | LogRow:
        """Return a span, lighter, with its reading; or the row of a log record."""
        if isinstance(record, LogRecord):
            return self._log(record)
        return self._drop(record), self._read(record)

    def _log(self, record: LogRecord) -> LogRow:
        key, kept = record_key(record), self._drop.log(record)
        span = stood_for(record, self._read)
        if span is None:
            return LogRow(kept, key, reading=None if kept is record else self._told(record, kept))
        return LogRow(kept, key, self._drop(span), self._read(span))

    def _told(self, record: LogRecord, kept: LogRecord) -> Reading | None:
        """What a record told as an event before it lost attributes, None if it tells the same."""
        told = self._read.of_event(event_of(record))
        return None if told == self._read.of_event(event_of(kept)) else told


def record_key(record: LogRecord) -> str:
    """Return a text that is equal for one record however often it comes, masked or not twice alike.

    Records have no ids; of two that say the same one is a repeat. Masks do not count: each process
    may make its own, and the same capture must not come in twice for it.
    """
    return blake2b(unkeyed(encoded(record)), digest_size=16).hexdigest()
