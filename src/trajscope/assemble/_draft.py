"""The mutable working copy of a trace while RESOLVE mends it. Private to `assemble`.

One thing a newcomer would get wrong: a draft exists for every span, noise too; `step_type` None
is noise. Folding a duplicate only sets that, so its children move up like those of any noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec import UNSET, UnsetType

from trajscope.model.reading import TOOL_STEP_TYPES, Reading, StepType, ToolRequest
from trajscope.model.span import Json, Span
from trajscope.tree import Forest, build_forests

BOUNDARIES = frozenset(
    {*TOOL_STEP_TYPES, StepType.AGENT_RUN, StepType.WORKFLOW_RUN, StepType.WORKFLOW_STEP}
)
"""Steps that end a nest of model calls: what is below them is somebody else's work."""


class Draft:
    """One span, or one requested call (`request` set, `span` the model call that asked for it)."""

    __slots__ = (
        "agent_name",
        "args",
        "children",
        "dropped",
        "executed",
        "failed",
        "failure",
        "from_messages",
        "is_mcp",
        "is_model_call",
        "is_orphan",
        "is_silent",
        "mcp_server",
        "name",
        "notes",
        "parent",
        "reading",
        "request",
        "request_rank",
        "result",
        "session_id",
        "span",
        "step_type",
        "tool_call_id",
    )

    def __init__(self, span: Span, reading: Reading) -> None:
        self.span = span
        self.reading = reading
        self.parent: Draft | None = None
        self.children: list[Draft] = []
        self.is_orphan = False
        self.step_type = reading.step_type
        self.is_model_call = reading.is_model_call
        self.name = reading.name
        self.agent_name = reading.agent_name
        self.args: Json | UnsetType = reading.args
        self.result: Json | UnsetType = reading.result
        self.failed = reading.failed
        self.failure = reading.failure
        self.tool_call_id = reading.tool_call_id
        self.mcp_server = reading.mcp_server
        self.is_mcp = reading.is_mcp
        self.is_silent = reading.is_silent
        self.session_id = reading.session_id
        self.executed = True
        self.from_messages = False
        self.request: ToolRequest | None = None
        self.request_rank: int | None = None
        self.dropped = ""
        self.notes: list[str] = []

    @property
    def is_tool(self) -> bool:
        """Whether the draft is a tool step."""
        return self.step_type in TOOL_STEP_TYPES

    @property
    def start_ns(self) -> int | None:
        """When the step sits in time: its start, or the end of the model call that asked for it."""
        if self.request is not None:
            return self.span.end_ns if self.span.end_ns is not None else self.span.start_ns
        return self.span.start_ns

    @property
    def time_key(self) -> tuple[bool, int, int, str]:
        """Sort key of steps: start, then the place in the assistant message, then span id."""
        start = self.start_ns
        rank = self.request_rank if self.request_rank is not None else 1 << 30
        return (start is None, start or 0, rank, self.span.span_id)

    def ancestors(self) -> Iterator[Draft]:
        """Yield the parent, its parent, and so on."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    def fold(self, why: str) -> None:
        """Make the draft noise; its children move up to what is kept above."""
        self.step_type = None
        self.dropped = why


class TraceDraft:
    """All drafts of one trace, in walking order, with the forest they come from."""

    __slots__ = ("drafts", "forest")

    def __init__(self, forest: Forest, read: Callable[[Span], Reading]) -> None:
        self.forest = forest
        made: dict[str, Draft] = {}
        self.drafts: list[Draft] = []
        for node in forest.walk():
            draft = Draft(node.span, read(node.span))
            draft.is_orphan = node.is_orphan
            if node.parent is not None:
                draft.parent = made[node.parent.span.span_id]
                draft.parent.children.append(draft)
            made[node.span.span_id] = draft
            self.drafts.append(draft)

    def model_calls(self) -> Iterator[Draft]:
        """Yield the drafts that record a call of a model, in walking order."""
        return (d for d in self.drafts if d.is_model_call)

    def tools(self) -> Iterator[Draft]:
        """Yield the drafts that are tool steps, in walking order."""
        return (d for d in self.drafts if d.is_tool)

    def with_kept_above(self) -> Iterator[tuple[Draft, Draft | None]]:
        """Yield every draft with the nearest step above it, parents first.

        A caller may fold what it is given: a draft is asked whether it is kept only after that.
        """
        kept: dict[int, Draft | None] = {}
        for draft in self.drafts:
            above = draft.parent
            if above is not None and above.step_type is None:
                above = kept[id(above)]
            kept[id(draft)] = above
            yield draft, above

    def session_id(self) -> str | None:
        """Return the first session id in walking order: the outermost span that names one."""
        return next((d.session_id for d in self.drafts if d.session_id), None)


def draft_traces(spans: Iterable[Span], read: Callable[[Span], Reading]) -> list[TraceDraft]:
    """Return the drafts of every trace among `spans`, traces in order of their first span."""
    return [TraceDraft(forest, read) for forest in build_forests(spans)]


def lift(inner: Draft, outer: Draft) -> None:
    """Give the outer span of one call what only an inner one knows: evidence, arguments, ids."""
    if outer.args is UNSET:
        outer.args = inner.args
    if outer.result is UNSET:
        outer.result = inner.result
    if inner.failed and not outer.reading.not_failure:
        if not outer.failed:
            outer.notes.append(f"failed: by its inner span {inner.span.span_id}")
        outer.failed = True
        outer.failure = outer.failure or inner.failure
    outer.is_silent = outer.is_silent and inner.is_silent
    outer.mcp_server = outer.mcp_server or inner.mcp_server
    outer.is_mcp = outer.is_mcp or inner.is_mcp
    outer.tool_call_id = outer.tool_call_id or inner.tool_call_id


def model_parent(draft: Draft) -> Draft | None:
    """Return the model call that `draft` is part of, if no other work lies between."""
    for above in draft.ancestors():
        if above.is_model_call:
            return above
        if above.step_type in BOUNDARIES:
            return None
    return None


def owner_of(draft: Draft) -> int:
    """Return the identity of the agent run a draft belongs to, 0 outside any."""
    return next((id(a) for a in draft.ancestors() if a.step_type is StepType.AGENT_RUN), 0)


def leaf_model_calls(trace: TraceDraft) -> list[Draft]:
    """Return the innermost recorded model calls: those that hold no other, in walking order."""
    holders = {id(p) for d in trace.model_calls() if (p := model_parent(d)) is not None}
    return [d for d in trace.model_calls() if id(d) not in holders]


__all__ = [
    "BOUNDARIES",
    "UNSET",
    "Draft",
    "TraceDraft",
    "draft_traces",
    "leaf_model_calls",
    "lift",
    "model_parent",
    "owner_of",
]
