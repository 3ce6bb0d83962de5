"""A convention as a vocabulary and a function that tells a span's kind: what most files here state.

One thing a newcomer would get wrong: `kind_of` decides from one span alone; a span it does not know
is None (not claimed), while a span it knows to be no step is `noise(reason)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trajscope.conventions._build import build_reading
from trajscope.conventions._kind import Kind
from trajscope.conventions._vocabulary import Vocabulary
from trajscope.model.reading import Reading
from trajscope.model.span import Span


@dataclass(frozen=True)
class VocabularyConvention:
    """A convention made of a vocabulary and a function that tells a span's kind.

    tier: breadth of the vocabulary, see `ports.Convention.claim`. kind_of returns None for a span
    that is not of this vocabulary. refine mends a reading where one attribute is not enough.
    """

    name: str
    description: str
    tier: int
    vocabulary: Vocabulary
    kind_of: Callable[[Span], Kind | None]
    refine: Callable[[Span, Reading], Reading] | None = None

    def claim(self, span: Span) -> int:
        """Return the tier plus 1 (kind known), 2 (and a name) or 3 (and arguments or usage)."""
        kind = self.kind_of(span)
        if kind is None:
            return 0
        attributes, words = span.attributes, self.vocabulary
        if any(n in attributes for n in (*words.tool_args, *words.input_tokens)):
            return self.tier + 3
        named = (*words.tool_name, *words.agent_name, *words.model)
        return self.tier + (2 if any(n in attributes for n in named) else 1)

    def read(self, span: Span) -> Reading:
        """Return the reading of a span this convention claims."""
        kind = self.kind_of(span)
        if kind is None:
            return Reading(noise_reason=f"no kind known to {self.name}")
        reading = build_reading(span, self.vocabulary, kind, self.name, self.claim(span))
        return self.refine(span, reading) if self.refine else reading
