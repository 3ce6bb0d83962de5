"""Attributes that are left out when spans are stored, by pattern.

One thing a newcomer would get wrong: a span is read before anything is dropped, so it stays the
step it is, arguments and results included. This saves room and keeps noise out; it is no redaction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from typing import Any

import msgspec

from trajscope.model.reading import DROPPED_KEY
from trajscope.model.span import Json, LogRecord, Span


class Dropper:
    """Returns spans and log records without the attributes that match some globs (`http.*`).

    Attributes of the span, its events, links and resource. A span that lost any says how many
    under `trajscope.dropped_attributes`.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self._pattern = re.compile("|".join(map(translate, patterns))) if patterns else None
        self._known: dict[str, bool] = {}
        self._resource: tuple[dict[str, Json], dict[str, Json]] = ({}, {})

    def __call__(self, span: Span) -> Span:
        """Return the span without them; itself if it has none."""
        if self._pattern is None:
            return span
        if span.resource is not self._resource[0]:  # spans of a resource share it and come together
            self._resource = (span.resource, self._kept(span.resource))
        attributes, resource = self._kept(span.attributes), self._resource[1]
        events = tuple(map(self._lighter, span.events))
        links = tuple(map(self._lighter, span.links))
        before = _count(span.attributes, span.resource, span.events, span.links)
        lost = before - _count(attributes, resource, events, links)
        if not lost:
            return span
        lost += _told(span.attributes)
        return msgspec.structs.replace(
            span,
            attributes={**attributes, DROPPED_KEY: lost},
            resource=resource,
            events=events,
            links=links,
        )

    def log(self, record: LogRecord) -> LogRecord:
        """Return a log record without them, and without those of its resource; it says how many."""
        if self._pattern is None:
            return record
        attributes, resource = self._kept(record.attributes), self._kept(record.resource)
        lost = len(record.attributes) - len(attributes) + len(record.resource) - len(resource)
        if not lost:
            return record
        lost += _told(record.attributes)
        return msgspec.structs.replace(
            record, attributes={**attributes, DROPPED_KEY: lost}, resource=resource
        )

    def _kept(self, attributes: dict[str, Json]) -> dict[str, Json]:
        return {k: v for k, v in attributes.items() if k == DROPPED_KEY or not self._drops(k)}

    def _lighter(self, part: Any) -> Any:
        kept = self._kept(part.attributes)
        if len(kept) == len(part.attributes):
            return part
        return msgspec.structs.replace(part, attributes=kept)

    def _drops(self, name: str) -> bool:
        known = self._known.get(name)
        if known is None:
            known = self._pattern is not None and self._pattern.match(name) is not None
            if len(self._known) < 10_000:  # names are few, unless a trace makes them up
                self._known[name] = known
        return known


def _told(attributes: dict[str, Json]) -> int:
    """How many were dropped by an ingest before this one."""
    before = attributes.get(DROPPED_KEY)
    return before if isinstance(before, int) else 0


def _count(
    attributes: dict[str, Json],
    resource: dict[str, Json],
    events: Sequence[Any],
    links: Sequence[Any],
) -> int:
    return (
        len(attributes)
        + len(resource)
        + sum(len(part.attributes) for part in events)
        + sum(len(part.attributes) for part in links)
    )
