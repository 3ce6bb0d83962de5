"""Chooses the convention of a span. The only caller of `claim` and `read`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import cast

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._event_reading import of_events
from trajscope.conventions._kind import Kind
from trajscope.conventions._memory import Looked, Memory
from trajscope.errors import PluginError, TrajscopeError
from trajscope.model.completing import completed
from trajscope.model.reading import NOT_UNDERSTOOD, Reading, ReadSpan
from trajscope.model.span import LogRecord, Span, SpanEvent
from trajscope.ports import Convention, LogConvention
from trajscope.registry import discover


@cache
def conventions() -> dict[str, Convention]:
    """Return every known convention by name: the package's own and those of entry points."""
    return discover("trajscope.conventions", "CONVENTION", Convention)  # type: ignore[type-abstract]


class Reader:
    """Reads spans: asks every convention for its claim and lets the highest one read.

    `extra` are conventions of this call alone (a user's mapping file), asked beside the others.
    """

    def __init__(self, extra: Sequence[Convention] = ()) -> None:
        every = (*extra, *conventions().values())
        self._conventions = sorted(every, key=_most, reverse=True)
        self._by_most = [(_most(c), c) for c in self._conventions]
        self._named = {convention.name: convention for convention in every}
        self._memory: Memory[Convention | None] = Memory()
        self._of_logs = [c for c in self._conventions if isinstance(c, LogConvention)]

    def claims(self, span: Span) -> list[tuple[int, Convention]]:
        """Return the conventions that understand the span, highest claim first."""
        found = [(claim, c) for c in self._conventions if (claim := c.claim(span))]
        return sorted(found, key=lambda pair: (-pair[0], pair[1].name))

    def __call__(self, span: Span) -> Reading:
        """Return the reading of the span, `NOT_UNDERSTOOD` when no convention claims it."""
        if type(span) is ReadSpan:
            return span.reading
        known = self._memory.find(span)
        chosen = self._highest(span) if known is None else known[0]
        try:
            return NOT_UNDERSTOOD if chosen is None else chosen.read(span)
        except TrajscopeError:
            raise
        except Exception as error:
            raise _crashed(chosen, span, error) from error

    def _highest(self, span: Span) -> Convention | None:
        """Ask the conventions, and remember the answer for spans like this one."""
        looked = Looked(span)
        try:
            chosen = self._asked(cast("Span", looked))
        except PluginError:  # it may be the stand-in that a claim cannot bear
            return self._asked(span)
        self._memory.keep(span, looked, chosen)
        return chosen

    def _asked(self, span: Span) -> Convention | None:
        best, chosen = 0, None
        for most, asked in self._by_most:
            if best > most:
                break
            try:
                claim = asked.claim(span)
            except TrajscopeError:
                raise
            except Exception as error:
                raise _crashed(asked, span, error) from error
            if claim > best:
                best, chosen = claim, asked
        return chosen

    def completed(self, span: ReadSpan) -> Reading:
        """Return the reading a span brings, with what its events tell beyond it.

        For one that got events since it was read, and lost what told its kind.
        """
        known = span.reading
        if not known.convention:  # not understood
            return known
        convention = self._named.get(known.convention)
        if isinstance(convention, VocabularyConvention):
            kind = Kind(known.step_type, known.noise_reason, known.is_model_call)
            try:
                known = completed(known, convention.read_as(span, kind))
            except TrajscopeError:
                raise
            except Exception as error:
                raise _crashed(convention, span, error) from error
        return completed(known, of_events(span.events, span.status_code))

    def of_event(self, event: SpanEvent) -> Reading:
        """Return what an event tells of whatever call it belongs to, see `model.completing`."""
        return of_events([event])

    def span_of_log(self, record: LogRecord) -> Span | None:
        """Return the span a log record stands for, None when it is an event of another span."""
        for convention in self._of_logs:
            try:
                span = convention.span_of_log(record)
            except TrajscopeError:
                raise
            except Exception as error:
                raise _crashed(convention, record, error) from error
            if span is not None:
                return span
        return None


def _crashed(
    convention: Convention | None, record: Span | LogRecord, error: Exception
) -> PluginError:
    """Say which convention crashed: mostly one from outside, and then its author must know."""
    name = convention.name if convention is not None else "?"
    what = f"{type(error).__name__}: {error}"
    on = "span" if isinstance(record, Span) else "a log record of span"
    return PluginError(
        f"convention {name!r} crashed on {on} {record.span_id!r:.80}: {what}",
        hint="mend or uninstall the package it comes from; TRAJSCOPE_DEBUG=1 shows where",
    )


def _most(convention: Convention) -> float:
    """The highest claim a convention can make; a broad one need not be asked after a close one."""
    tier = getattr(convention, "tier", None)
    return tier + 3 if isinstance(tier, int) else float("inf")
