"""`extract_trajectory_from_trace` as the reference does it, on stored span records (plain JSON).

One thing a newcomer would get wrong: its oddities are kept on purpose (roots in input order, an
orphan is a further root, a repeated id yields its last record once per occurrence, cycles vanish).
The good tree is `tree` and `assemble`; this one exists to be compared with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cmp_to_key
from typing import Any

from trajscope.errors import Location, SpanError
from trajscope.model.span import Json

Record = Mapping[str, Json]
_MISSING: Any = object()
_MAX_STEPS = 5_000_000
_TOOLS = ("tool_call", "mcp_tool_call", "provider_tool_call")
_BARE = (
    "workflow_conditional",
    "workflow_parallel",
    "workflow_loop",
    "workflow_sleep",
    "workflow_wait_event",
    "processor_run",
)


class _Node:
    __slots__ = ("children", "record", "steps")

    def __init__(self, record: Record) -> None:
        self.record = record
        self.children: list[_Node] = []
        self.steps: list[dict[str, Json]] | None = None


def extract_trajectory_from_records(
    records: Iterable[Record], root_span_id: str | None = None
) -> dict[str, Json]:
    """Return the reference's trajectory JSON of stored span records.

    Times (`startedAt`, `endedAt`) may be `datetime`, ISO 8601 text or milliseconds since the
    epoch; like the reference's dates they are cut to milliseconds. An unknown `root_span_id`
    silently means the whole trace, as it does there.

    Raises:
        SpanError: a record is no object, a time that must be compared is missing or of another
            type, or the records below a root contain themselves.

    >>> extract_trajectory_from_records([])
    {'steps': []}
    """
    spans = _checked(records)
    if not spans:
        return {"steps": []}
    nodes, roots = _link(spans)
    for node in nodes.values():
        if len(node.children) > 1:
            node.children.sort(key=cmp_to_key(_by_start))
    targets = [nodes[root_span_id]] if root_span_id and root_span_id in nodes else roots
    single = targets[0].record if len(targets) == 1 else None
    if single is not None and single.get("spanType") in ("agent_run", "workflow_run"):
        targets = targets[0].children
    trajectory: dict[str, Json] = {"steps": _convert(targets)}
    if single is not None:
        _set(trajectory, "totalDurationMs", _duration_ms(single))
    return trajectory


def _checked(records: Iterable[Record]) -> Sequence[Record]:
    if isinstance(records, Mapping) or not isinstance(records, Iterable):
        raise SpanError(f"the spans are no list (got {records!r:.80}); a list was expected")
    spans: list[Record] = []
    for number, record in enumerate(records, start=1):
        if record is None:
            raise SpanError(
                "is no span record (got null); an object was expected", at=Location(record=number)
            )
        # A text or a number has no members; only null stops the reference.
        span: Record = record if isinstance(record, Mapping) else {}
        for key in ("spanId", "parentSpanId"):
            if isinstance(span.get(key), list | dict):
                raise SpanError(
                    f"is no id (got {span[key]!r:.80}); a text was expected",
                    at=Location(record=number, key=key),
                )
        spans.append(span)
    return spans


def _link(spans: Sequence[Record]) -> tuple[dict[Json, _Node], list[_Node]]:
    """Return the nodes by id (last record of an id) and the roots, in input order."""
    nodes: dict[Json, _Node] = {}
    for span in spans:
        nodes[span.get("spanId")] = _Node(span)
    roots: list[_Node] = []
    for span in spans:
        node = nodes[span.get("spanId")]
        parent = span.get("parentSpanId")
        siblings = nodes[parent].children if parent and parent in nodes else roots
        siblings.append(node)
    return nodes, roots


def _convert(targets: Sequence[_Node]) -> list[dict[str, Json]]:
    """Return the steps of the targets, each node converted once, without recursion."""
    steps: list[dict[str, Json]] = []
    for target in targets:
        steps += _steps_of(target)
    return steps


def _steps_of(target: _Node) -> list[dict[str, Json]]:
    stack = [(target, False)]
    above: set[int] = set()
    while stack:
        node, children_done = stack.pop()
        if node.steps is not None:
            continue
        if children_done:
            above.discard(id(node))
            node.steps = _finish(node)
            continue
        if id(node) in above:
            raise SpanError(
                f"span {node.record.get('spanId')!r} lies below itself; no trajectory can be made",
                hint="the default (without compat) breaks the cycle and reports it",
            )
        above.add(id(node))
        stack.append((node, True))
        # An ancestor among the children is a cycle: visiting it again is what finds it.
        stack.extend((child, False) for child in reversed(node.children))
    return target.steps or []


def _finish(node: _Node) -> list[dict[str, Json]]:
    below: list[dict[str, Json]] = []
    for child in node.children:
        below += child.steps or []
        if len(below) > _MAX_STEPS:
            raise SpanError("repeated span ids multiply the steps beyond all bounds")
    fields = _FIELDS.get(_text(node.record.get("spanType")))
    if fields is None:
        return below
    record = node.record
    step: dict[str, Json] = {}
    _set(step, "name", _name(record) if record["spanType"] in _TOOLS else _get(record, "name"))
    _set(step, "durationMs", _duration_ms(record))
    _set(step, "metadata", _get(record, "metadata"))
    if below:
        step["children"] = below
    step["stepType"] = record["spanType"]
    fields(record, step)
    return [step]


def _get(value: Json, key: str) -> Json:
    return value.get(key, _MISSING) if isinstance(value, Mapping) else _MISSING


def _set(step: dict[str, Json], key: str, value: Json) -> None:
    if value is not _MISSING:
        step[key] = value


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _name(record: Record) -> Json:
    """Return the first of entity id, entity name and name that is not null; "" counts."""
    for key in ("entityId", "entityName"):
        if record.get(key) is not None:
            return record[key]
    return _get(record, "name")


def _attribute(record: Record, key: str, kind: type) -> Json:
    value = _get(record.get("attributes"), key)
    return value if isinstance(value, kind) else _MISSING


def _boxed(value: Json) -> Json:
    """Return an object as it is, anything else but null as {"value": …}."""
    if value is None or value is _MISSING:
        return _MISSING
    return value if isinstance(value, Mapping) else {"value": value}


def _tool(record: Record, step: dict[str, Json]) -> None:
    _set(step, "toolArgs", _boxed(_get(record, "input")))
    _set(step, "toolResult", _boxed(_get(record, "output")))
    _set(step, "success", _attribute(record, "success", bool))
    if record["spanType"] == "mcp_tool_call":
        _set(step, "mcpServer", _attribute(record, "mcpServer", str))


def _generation(record: Record, step: dict[str, Json]) -> None:
    _set(step, "modelId", _attribute(record, "model", str))
    usage = _get(record.get("attributes"), "usage")
    _set(step, "promptTokens", _get(usage, "inputTokens"))
    _set(step, "completionTokens", _get(usage, "outputTokens"))
    _set(step, "finishReason", _attribute(record, "finishReason", str))


def _run(key: str) -> Callable[[Record, dict[str, Json]], None]:
    def fill(record: Record, step: dict[str, Json]) -> None:
        if record.get("entityId") is not None:
            step[key] = record["entityId"]

    return fill


def _workflow_step(record: Record, step: dict[str, Json]) -> None:
    _set(step, "stepId", _get(record, "name"))
    _set(step, "output", _boxed(_get(record, "output")))


def _nothing(record: Record, step: dict[str, Json]) -> None:
    """The reference fills no field of these types."""


_FIELDS: dict[str, Callable[[Record, dict[str, Json]], None]] = {
    **dict.fromkeys(_TOOLS, _tool),
    "model_generation": _generation,
    "agent_run": _run("agentId"),
    "workflow_run": _run("workflowId"),
    "workflow_step": _workflow_step,
    **dict.fromkeys(_BARE, _nothing),
}
"""What each kept span type adds to its step; every other type is noise."""


def _millis(record: Record, key: str) -> float:
    """Return a time in milliseconds since the epoch; NaN for a text that is no date.

    Raises:
        SpanError: the value is missing or of another type.
    """
    value = record.get(key)
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        return float(math.floor(moment.timestamp() * 1000))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        return _parsed(value)
    raise SpanError(
        f"span {record.get('spanId')!r}: {key} is no time (got {value!r:.40}); "
        "a date, ISO 8601 text or milliseconds were expected"
    )


def _parsed(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return math.nan
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return float((since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000)


def _duration_ms(record: Record) -> Json:
    if record.get("startedAt") is None or record.get("endedAt") is None:
        return _MISSING
    duration = _millis(record, "endedAt") - _millis(record, "startedAt")
    return int(duration) if math.isfinite(duration) and duration == int(duration) else duration


def _by_start(left: _Node, right: _Node) -> int:
    gap = _millis(left.record, "startedAt") - _millis(right.record, "startedAt")
    return (gap > 0) - (gap < 0)
