"""Every recorded trace of the fixtures in one store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.support.stores import empty_store, ingest
from tests.support.truth import FIXTURES
from trajscope.conventions import Reader
from trajscope.errors import Problems
from trajscope.formats import read_captures
from trajscope.model.span import Span
from trajscope.store import Store


@contextmanager
def recorded_store() -> Iterator[Store]:
    """Give a store with the spans of every fixture, taken in as one capture: one for each is slow.

    Log records are left out.
    """
    read = Reader()
    with empty_store() as store:
        ingest(store, ((span, read(span)) for span in recorded_spans()))
        yield store


def recorded_spans() -> list[Span]:
    """Return the spans of every fixture; log records are left out."""
    found = read_captures([str(FIXTURES)], Problems())
    return [record for record in found if isinstance(record, Span)]
