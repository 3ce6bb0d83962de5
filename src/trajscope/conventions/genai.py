"""OTel GenAI semantic conventions, current and older names (semantic-conventions-genai 0.1.0).

One thing a newcomer would get wrong: this is the floor, not a framework. It reads whatever carries
`gen_ai.*` and is not claimed by a convention that knows its author better.
"""

from __future__ import annotations

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._genai import HINTS, kind_of, refine
from trajscope.conventions._vocabulary import GEN_AI

CONVENTION = VocabularyConvention(
    name="genai",
    description="OTel GenAI semantic conventions: gen_ai.operation.name and its companions.",
    tier=0,
    vocabulary=GEN_AI,
    kind_of=kind_of,
    refine=refine,
    hints=HINTS,
)
