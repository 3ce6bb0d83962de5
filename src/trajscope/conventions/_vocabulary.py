"""Which attribute holds which field: the names of a vocabulary, the preferred one first.

One thing a newcomer would get wrong: a vocabulary extends `GEN_AI`, so attributes of the OTel GenAI
conventions are understood on every span, after its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

Names = tuple[str, ...]

_MAX_SHAPES = 4096
"""Sets of attribute names remembered for one vocabulary; beyond, they are forgotten all at once."""


@dataclass(frozen=True)
class Vocabulary:
    """Attribute names per field, the preferred one first.

    `agent_run_name` names the agent on agent runs alone, where other spans hold their own name
    under it. `flat_output` and `flat_input` are prefixes of messages written as one attribute per
    leaf (`llm.output_messages.0.message.role`). `usage` names objects that hold all token counts.
    `message_events` are lists of event bodies, each with its `event.name`. `status` is a word that
    says how the operation ended, `status_text` what it says beside an error. `question` and
    `answer` are the whole request to a model and its whole response, as the provider has them.
    """

    session: Names = ()
    agent_name: Names = ()
    agent_run_name: Names = ()
    agent_id: Names = ()
    tool_name: Names = ()
    tool_call_id: Names = ()
    tool_args: Names = ()
    tool_result: Names = ()
    mcp_server: Names = ()
    workflow_name: Names = ()
    from_agent: Names = ()
    to_agent: Names = ()
    model: Names = ()
    provider: Names = ()
    input_tokens: Names = ()
    output_tokens: Names = ()
    cached_tokens: Names = ()
    reasoning_tokens: Names = ()
    usage: Names = ()
    finish_reason: Names = ()
    response_id: Names = ()
    output_messages: Names = ()
    input_messages: Names = ()
    flat_output: Names = ()
    flat_input: Names = ()
    message_events: Names = ()
    question: Names = ()
    answer: Names = ()
    status: Names = ()
    status_text: Names = ()
    query: Names = ()
    output: Names = ()

    @cached_property
    def _within(self) -> dict[Names, Vocabulary]:
        """What was left of this vocabulary within sets of attribute names."""
        return {}

    def within(self, attributes: Iterable[str]) -> Vocabulary:
        """Return this vocabulary without the names that these attributes do not have.

        Which names a span has is the same for all spans written by one line of code, so what is
        left is remembered: most of a hundred look-ups of a reading would find nothing.
        """
        shape = tuple(attributes)
        known = self._within.get(shape)
        if known is None:
            if len(self._within) >= _MAX_SHAPES:
                self._within.clear()
            known = self._within[shape] = self._narrowed(shape)
        return known

    def _narrowed(self, shape: Names) -> Vocabulary:
        there = frozenset(shape)
        kept: dict[str, Any] = {
            f: tuple([n for n in getattr(self, f) if n in there]) for f in _FIELDS
        }
        for flat in ("flat_output", "flat_input"):
            kept[flat] = tuple(
                p for p in getattr(self, flat) if any(n.startswith(p) for n in shape)
            )
        return Vocabulary(**kept)

    def extended(self, **own: Names) -> Vocabulary:
        """Return this vocabulary with `own` names before the ones it has."""
        more: dict[str, Any] = {k: (*v, *getattr(self, k)) for k, v in own.items()}
        return replace(self, **more)

    def appended(self, **own: Names) -> Vocabulary:
        """Return this vocabulary with `own` names after the ones it has."""
        more: dict[str, Any] = {k: (*getattr(self, k), *v) for k, v in own.items()}
        return replace(self, **more)

    def prefixes(self) -> frozenset[str]:
        """Return the first two parts of every name, for `doctor`."""
        every = (name for f in _FIELDS for name in getattr(self, f))
        return frozenset(".".join(name.split(".")[:2]) for name in every)


_FIELDS = tuple(f.name for f in fields(Vocabulary))


GEN_AI = Vocabulary(
    session=("gen_ai.conversation.id", "session.id", "conversation.id"),
    agent_name=("gen_ai.agent.name",),
    agent_id=("gen_ai.agent.id",),
    tool_name=("gen_ai.tool.name",),
    tool_call_id=("gen_ai.tool.call.id", "gen_ai.tool.call_id"),
    tool_args=("gen_ai.tool.call.arguments", "gen_ai.tool.arguments", "gen_ai.tool.input"),
    tool_result=("gen_ai.tool.call.result", "gen_ai.tool.result", "gen_ai.tool.output"),
    mcp_server=("mcp.server.name", "fastmcp.server.name"),
    workflow_name=("gen_ai.workflow.name", "gen_ai.agent.name"),
    from_agent=("gen_ai.handoff.from_agent",),
    to_agent=("gen_ai.handoff.to_agent",),
    model=("gen_ai.response.model", "gen_ai.request.model"),
    provider=("gen_ai.provider.name", "gen_ai.system"),
    input_tokens=("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    output_tokens=("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    cached_tokens=(
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cached_input_tokens",
        "gen_ai.usage.details.cache_read_tokens",
        "gen_ai.usage.cache_read_input_tokens",
    ),
    reasoning_tokens=(
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.reasoning_tokens",
        "gen_ai.usage.details.reasoning_tokens",
    ),
    finish_reason=("gen_ai.response.finish_reasons", "gen_ai.response.finish_reason"),
    response_id=("gen_ai.response.id",),
    output_messages=("gen_ai.output.messages", "gen_ai.output_messages"),
    input_messages=("gen_ai.input.messages", "gen_ai.input_messages"),
    flat_output=("gen_ai.completion.",),
    flat_input=("gen_ai.prompt.",),
    message_events=("events",),
    status=("gen_ai.tool.status", "gen_ai.tool.call.status", "gen_ai.task.status"),
    status_text=("error.message", "exception.message"),
    query=("gen_ai.retrieval.query.text",),
    output=("gen_ai.retrieval.documents",),
)
"""OTel GenAI semantic conventions (semantic-conventions-genai 0.1.0) and the older spellings."""
