"""Which traces an expectation is for.

One thing a newcomer would get wrong: what is not known of a trace does not match. A trace without
a start lies in no time range, one without a session in no session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from trajscope.match import compile_pattern
from trajscope.model.expectation import Selector
from trajscope.model.span import Json
from trajscope.model.trajectory import Trajectory
from trajscope.values import equal_json


def _no_attributes(_key: str) -> Iterable[Json]:
    return ()


@dataclass(frozen=True, slots=True)
class TraceFacts:
    """What a selector may ask of a trace.

    root_names: display names of the root spans, and the name of the unwrapped run. attributes:
    gives the values a key has on any span of the trace, resource attributes included.
    """

    trace_id: str | None = None
    session_id: str | None = None
    agents: tuple[str, ...] = ()
    root_names: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    start_ns: int | None = None
    attributes: Callable[[str], Iterable[Json]] = _no_attributes


def facts_of(
    trajectory: Trajectory,
    *,
    root_names: Iterable[str] = (),
    services: Iterable[str] = (),
    attributes: Callable[[str], Iterable[Json]] = _no_attributes,
) -> TraceFacts:
    """Return the facts of a trajectory; what only its spans know is given by the caller."""
    tops = [trajectory.root] if trajectory.root is not None else list(trajectory.steps)
    roots = set(trajectory.root_span_ids)
    names = [
        name
        for step in tops
        if not roots or step.span_id in roots
        for name in (step.name, step.label)
        if name is not None
    ]
    return TraceFacts(
        trace_id=trajectory.trace_id,
        session_id=trajectory.session_id,
        agents=trajectory.agents,
        root_names=tuple(dict.fromkeys([*root_names, *names])),
        services=tuple(services),
        start_ns=trajectory.start_ns,
        attributes=attributes,
    )


def selects(selector: Selector, facts: TraceFacts) -> bool:
    """Return whether every field that is set holds for the trace.

    >>> selects(Selector(agent="travel-*"), TraceFacts(agents=("travel-agent",)))
    True
    >>> selects(Selector(session_id="a"), TraceFacts())
    False
    """
    ids = selector.trace_id
    wanted = (ids,) if isinstance(ids, str) else ids
    if wanted is not None and not any(_named(w, [facts.trace_id], any_case=True) for w in wanted):
        return False
    asked = (
        (selector.session_id, [facts.session_id]),
        (selector.agent, facts.agents),
        (selector.root_name, facts.root_names),
        (selector.service, facts.services),
    )
    if not all(pattern is None or _named(pattern, names) for pattern, names in asked):
        return False
    for key, value in (selector.attributes or {}).items():
        if not any(equal_json(value, found) for found in facts.attributes(key)):
            return False
    return selector.time is None or (
        facts.start_ns is not None and selector.time.contains(facts.start_ns)
    )


def _named(pattern: str, names: Iterable[str | None], *, any_case: bool = False) -> bool:
    """Return whether a known name matches; trace ids compare without regard to case."""
    known = [name for name in names if name is not None]
    if compile_pattern(pattern).matches(known):
        return True
    return any_case and compile_pattern(pattern.lower()).matches(name.lower() for name in known)
