"""A convention as a vocabulary and a function that tells a span's kind: what most files here state.

One thing a newcomer would get wrong: `kind_of` decides from one span alone; a span it does not know
is None (not claimed), while a span it knows to be no step is `noise(reason)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import msgspec

from trajscope.conventions._build import build_reading
from trajscope.conventions._kind import Kind
from trajscope.conventions._vocabulary import Names, Vocabulary
from trajscope.model.reading import Reading
from trajscope.model.span import Json, LogRecord, Span


@dataclass(frozen=True)
class VocabularyConvention:
    """A convention made of a vocabulary and a function that tells a span's kind.

    tier: breadth of the vocabulary, see `ports.Convention.claim`. kind_of returns None for a span
    that is not of this vocabulary. refine mends a reading where one attribute is not enough.
    facts: names of events (log records among them) whose attributes say what the span itself could
    have said; they are read as attributes of the span, after its own. hints: see `ports.Hinting`.
    """

    name: str
    description: str
    tier: int
    vocabulary: Vocabulary
    kind_of: Callable[[Span], Kind | None]
    refine: Callable[[Span, Reading], Reading] | None = None
    facts: Names = ()
    hints: Mapping[str, str] = field(default_factory=dict)

    def claim(self, span: Span) -> int:
        """Return the tier plus 1 (kind known), 2 (and a name) or 3 (and arguments or usage)."""
        span = self._with_facts(span)
        if self.kind_of(span) is None:
            return 0
        return self._claim(self.vocabulary.within(span.attributes))

    def _claim(self, words: Vocabulary) -> int:
        """The claim on a span of a known kind that has attributes of these names."""
        if words.tool_args or words.input_tokens:
            return self.tier + 3
        return self.tier + (2 if words.tool_name or words.agent_name or words.model else 1)

    def read(self, span: Span) -> Reading:
        """Return the reading of a span this convention claims."""
        span = self._with_facts(span)
        kind = self.kind_of(span)
        if kind is None:
            return Reading(noise_reason=f"no kind known to {self.name}")
        return self._read_as(span, kind)

    def read_as(self, span: Span, kind: Kind) -> Reading:
        """Return the reading of a span whose kind is known, though it may not show any more."""
        return self._read_as(self._with_facts(span), kind)

    def _read_as(self, span: Span, kind: Kind) -> Reading:
        words = self.vocabulary.within(span.attributes)
        reading = build_reading(span, words, kind, self.name, self._claim(words))
        return self.refine(span, reading) if self.refine else reading

    def _with_facts(self, span: Span) -> Span:
        """The span with the attributes of its fact events below its own."""
        if not self.facts or not span.events:
            return span
        found: dict[str, Json] = {}
        for event in span.events:
            if (event.attributes.get("event.name") or event.name) in self.facts:
                found |= event.attributes
        found.pop("event.name", None)  # names the event, not the span
        if not found:
            return span
        return msgspec.structs.replace(span, attributes={**found, **span.attributes})


@dataclass(frozen=True)
class LoggedConvention(VocabularyConvention):
    """A vocabulary whose log records may stand for spans, see `ports.LogConvention`."""

    from_log: Callable[[LogRecord], Span | None] = lambda _record: None

    def span_of_log(self, record: LogRecord) -> Span | None:
        """Return the span a record stands for, None when it is only an event of one."""
        return self.from_log(record)
