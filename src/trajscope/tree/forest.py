"""The shape of one trace: nodes by parent, and ways to walk them. Nothing here recurses.

One thing a newcomer would get wrong: `node.parent` is not always the span's recorded parent. It is
None for an orphan and where a cycle or self-parent was broken; `node.span` stays as it was sent.
"""

from __future__ import annotations

from collections.abc import Iterator

from trajscope.model.repair import Repair
from trajscope.model.span import Span

TimeOrder = tuple[bool, int, str]


def time_order(span: Span) -> TimeOrder:
    """Return the sort key of siblings: start in nanoseconds, unknown starts last, then span id.

    The span id makes the order total, so that it never depends on the order of a file.

    >>> time_order(Span(trace_id="t", span_id="b", start_ns=7))
    (False, 7, 'b')
    """
    return (span.start_ns is None, span.start_ns or 0, span.span_id)


class Node:
    """A span at its place in the forest. `children` are in time order."""

    __slots__ = ("children", "is_orphan", "parent", "span")

    def __init__(self, span: Span, *, is_orphan: bool = False) -> None:
        self.span = span
        self.parent: Node | None = None
        self.children: list[Node] = []
        self.is_orphan = is_orphan

    def __repr__(self) -> str:
        return f"Node({self.span.span_id!r}, children={len(self.children)})"

    def walk(self) -> Iterator[Node]:
        """Yield this node and everything below it, depth first, siblings in time order."""
        return _walk([self])


class Forest:
    """One trace: every distinct span in exactly one place.

    nodes: by span id, in time order. roots: spans without a parent, or whose self-parent or cycle
    was broken. orphans: spans whose parent is not in the trace. tops: both, in time order.
    missing_parents: the distinct parent ids that are absent, by their earliest child.
    """

    __slots__ = ("missing_parents", "nodes", "orphans", "repairs", "roots", "tops", "trace_id")

    def __init__(
        self,
        trace_id: str,
        nodes: dict[str, Node],
        missing_parents: tuple[str, ...],
        repairs: tuple[Repair, ...],
    ) -> None:
        self.trace_id = trace_id
        self.nodes = nodes
        self.tops = tuple(node for node in nodes.values() if node.parent is None)
        self.roots = tuple(node for node in self.tops if not node.is_orphan)
        self.orphans = tuple(node for node in self.tops if node.is_orphan)
        self.missing_parents = missing_parents
        self.repairs = repairs

    def __repr__(self) -> str:
        return f"Forest({self.trace_id!r}, spans={len(self.nodes)}, tops={len(self.tops)})"

    def walk(self) -> Iterator[Node]:
        """Yield every node once, depth first, tops and siblings in time order."""
        return _walk(list(reversed(self.tops)))


def iter_ancestors(node: Node) -> Iterator[Node]:
    """Yield the parent of `node`, its parent, and so on up to the top; `node` itself not."""
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def _walk(stack: list[Node]) -> Iterator[Node]:
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))
