"""What one message of a library says: a speaker, parts, and answers to earlier calls.

One thing a newcomer would get wrong: `whole` is set for a message that has the reference's form
already; it is handed on as it is.
"""

from __future__ import annotations

from typing import NamedTuple

from trajscope.evals.adapters._parts import Answer, Part
from trajscope.model.span import Json


class Turn(NamedTuple):
    """One turn. is_standing: instructions repeated with every request, said once if unchanged."""

    role: str
    parts: list[Part | Answer]
    id: str | None = None
    created_at: str | None = None
    whole: dict[str, Json] | None = None
    is_standing: bool = False
