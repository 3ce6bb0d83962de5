"""A judge that masks secrets in its prompts before they leave.

One thing a newcomer would get wrong: `super()` without arguments does not work in a dataclass with
slots, which is a new class; the base is therefore named.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from trajscope.judges._judge import ModelJudge
from trajscope.model.judge import JudgeReply, JudgeRequest
from trajscope.redact import Redactor, default_redactor


@dataclass(frozen=True, slots=True)
class MaskingJudge(ModelJudge):
    """A `ModelJudge` with a redactor; with None prompts go out as they are."""

    redactor: Redactor | None = field(default_factory=default_redactor, repr=False, compare=False)

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Put one question, its secrets masked.

        Raises:
            JudgeError: as `ModelJudge.ask` does.
        """
        if self.redactor is not None:
            request = replace(request, prompt=self.redactor.text(request.prompt))
        return await ModelJudge.ask(self, request)
