"""Spans to forests: group by trace, repair, hang.

One thing a newcomer would get wrong: the result does not depend on the order of the spans. Every
sort key here ends in an id, and repeats are ranked by their content.
"""

from __future__ import annotations

from collections.abc import Iterable

from trajscope.model.span import Span
from trajscope.tree.forest import Forest, Node, TimeOrder, time_order
from trajscope.tree.repairs import REPAIRS, Draft


def build_forests(spans: Iterable[Span]) -> list[Forest]:
    """Return one forest per trace, traces in order of their earliest span, then by trace id.

    >>> root = Span(trace_id="t", span_id="b")
    >>> child = Span(trace_id="t", span_id="a", parent_span_id="b")
    >>> [node.span.span_id for forest in build_forests([child, root]) for node in forest.walk()]
    ['b', 'a']
    """
    received: dict[str, list[Span]] = {}
    for span in spans:
        received.setdefault(span.trace_id, []).append(span)
    return sorted((_build(*trace) for trace in received.items()), key=_trace_order)


def _build(trace_id: str, received: list[Span]) -> Forest:
    draft = Draft(trace_id, received)
    repairs = tuple(
        made
        for repair in REPAIRS
        for made in sorted(repair(draft), key=lambda made: time_order(draft.spans[made.span_id]))
    )
    nodes = {
        span_id: Node(span, is_orphan=span_id in draft.missing)
        for span_id, span in draft.spans.items()
    }
    for span_id, parent in draft.parents.items():
        if parent is not None:
            node, above = nodes[span_id], nodes[parent]
            node.parent = above
            above.children.append(node)  # spans come in time order, so children do
    missing = tuple(dict.fromkeys(draft.missing.values()))
    return Forest(trace_id, nodes, missing, repairs)


def _trace_order(forest: Forest) -> TimeOrder:
    earliest = next(iter(forest.nodes.values())).span
    return (*time_order(earliest)[:2], forest.trace_id)
