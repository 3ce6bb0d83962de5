"""OpenLLMetry (Traceloop): `traceloop.span.kind`, mixed with GenAI operations and `llm.*` names.

One thing a newcomer would get wrong: one span can carry both `traceloop.span.kind` = workflow and
`gen_ai.operation.name` = invoke_agent; the operation is the more exact of the two.
"""

from __future__ import annotations

from trajscope.conventions._convention import VocabularyConvention
from trajscope.conventions._openllmetry import HINTS, VOCABULARY, kind_of

CONVENTION = VocabularyConvention(
    name="openllmetry",
    description="OpenLLMetry (Traceloop): traceloop.span.kind, its entity, llm.request.type.",
    tier=10,
    vocabulary=VOCABULARY,
    kind_of=kind_of,
    hints=HINTS,
)
