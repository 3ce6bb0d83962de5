"""OpenInference (Arize): `openinference.span.kind` and llm.*, tool.*, input.value, output.value.

One thing a newcomer would get wrong: `input.value` of a tool can be the bare value of its only
argument; the argument's name then stands elsewhere and is found by `assemble`.
"""

from __future__ import annotations

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._openinference import HINTS, VOCABULARY, kind_of

CONVENTION = VocabularyConvention(
    name="openinference",
    description="OpenInference: openinference.span.kind with llm.*, tool.*, input.* and output.*.",
    tier=10,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    hints=HINTS,
)
