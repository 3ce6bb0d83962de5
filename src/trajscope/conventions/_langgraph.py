"""What a span of a LangGraph run is, from the graph's own metadata, whatever library recorded it.

One thing a newcomer would get wrong: metadata is inherited downwards. Every span inside a node
carries that node's `langgraph_node`; only the span *named* like the node is the node itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trajscope.conventions._kind import Kind, noise, step
from trajscope.model.reading import StepType
from trajscope.model.span import Json
from trajscope.values import decode_json, text_of

_MAX_NODES = 20_000

CREATED_AGENT = "langchain_create_agent"
"""`ls_integration` of a graph that `create_agent` built: its nodes are machinery, not steps."""

_DEFAULT_NAME = "LangGraph"
_WORKFLOW_STEP, _AGENT = step(StepType.WORKFLOW_STEP), step(StepType.AGENT_RUN)
_WORKFLOW = step(StepType.WORKFLOW_RUN)


def speaks_as(name: str, output: Json) -> bool:
    """Whether a graph's output holds a message of a model under the graph's own name.

    `create_react_agent` signs its model's messages so, and says nowhere else that it is an agent.

    >>> speaks_as("weather", '{"messages": [{"type": "ai", "name": "weather", "content": ""}]}')
    True
    """
    if not name or not isinstance(output, str) or f'"{name}"' not in output:
        return False
    stack: list[Any] = [decode_json(output)]
    for _ in range(_MAX_NODES):
        if not stack:
            return False
        node = stack.pop()
        if isinstance(node, dict):
            if node.get("name") == name and _is_of_a_model(node):
                return True
            kwargs = node.get("kwargs")
            if isinstance(kwargs, dict) and kwargs.get("name") == name and _is_of_a_model(node):
                return True
            stack += node.values()
        elif isinstance(node, list):
            stack += node
    return False


def _is_of_a_model(message: Mapping[str, Json]) -> bool:
    kind, ident = message.get("type"), message.get("id")
    last = ident[-1] if isinstance(ident, list) and ident else None
    return "ai" in (kind, message.get("role")) or last in ("AIMessage", "AIMessageChunk")


def graph_kind(
    name: str, metadata: Mapping[str, Json], output: Callable[[], Json] = lambda: None
) -> Kind | None:
    """Return what the chain `name` is by its metadata; None when that says nothing of a graph.

    output: returns that of the chain. It is asked for a graph as a whole only, since no two spans
    have the same: a claim that looked at it each time could not be remembered.

    An agent is the graph itself (named `lc_agent_name`); a node is named `langgraph_node`; what
    is inside a node under another name (routers, wrappers) is no step.
    """
    node = text_of(metadata.get("langgraph_node"))
    agent = text_of(metadata.get("lc_agent_name"))
    integration = text_of(metadata.get("ls_integration"))
    if agent is not None and name == agent and name != node:
        return _AGENT
    created = integration == CREATED_AGENT or (integration is None and agent is not None)
    if node is None:
        if created:
            return _AGENT
        if integration == "langgraph" and speaks_as(name, output()):
            return _AGENT
        return _WORKFLOW if integration == "langgraph" or name == _DEFAULT_NAME else None
    if name == node and name == "__start__":
        return noise("where a graph begins is no step")
    if name == node:
        return noise("a node of a created agent is glue") if created else _WORKFLOW_STEP
    if name == _DEFAULT_NAME:
        return _AGENT if created else _WORKFLOW
    return noise("a router or wrapper inside a graph's node")
