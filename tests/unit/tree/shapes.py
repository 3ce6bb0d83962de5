"""Short ways to write spans and to read forests."""

from collections.abc import Iterable

from trajscope.model.span import Span
from trajscope.tree import Node


def span(
    span_id: str,
    parent: str | None,
    start: int | None = None,
    end: int | None = None,
    *,
    trace: str = "t",
    **attributes: object,
) -> Span:
    return Span(
        trace_id=trace,
        span_id=span_id,
        parent_span_id=parent,
        start_ns=start,
        end_ns=end,
        attributes=attributes,
    )


def ids(nodes: Iterable[Node]) -> list[str]:
    return [node.span.span_id for node in nodes]
