"""Decides `Query` and `Predicate`: what a query of the store or a function of the user says.

One thing a newcomer would get wrong: a function that raises is contained in `_called` and nowhere
else, and makes its rule unknown, never satisfied.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from trajscope.errors import Location, TrajscopeError, UsageError
from trajscope.model.check import Predicate, Query
from trajscope.model.score import Finding
from trajscope.ports import Queries
from trajscope.rules._lines import LineStep, Traces
from trajscope.rules._outcome import Hit, Outcome
from trajscope.scope import merge_session


def decide_query(check: Query, traces: Traces, queries: Queries | None) -> Outcome:
    """Return the rows of a query that are about these traces."""
    if queries is None:
        return _unknown("an SQL rule needs a store (--db)")
    by_trace = queries.findings(check.sql)
    outcome = Outcome()
    for trajectory in traces.trajectories:
        for span_ids, message in by_trace.get(str(trajectory.trace_id), ()):
            outcome.violated.append(_hit(traces, list(span_ids), message))
    return outcome


def decide_predicate(check: Predicate, traces: Traces) -> Outcome:
    """Return what a function says of a trace, or of the merged traces of a session."""
    function = load_function(check.path, check.function)
    found = traces.trajectories
    said, error = _called(function, found[0] if len(found) == 1 else merge_session(found))
    if error is not None:
        return _unknown(f"{check.function} failed: {error}")
    if said is None:
        return _unknown(f"{check.function} cannot tell")
    if isinstance(said, bool):
        return Outcome() if said else Outcome([Hit((), f"{check.function} does not hold")])
    if isinstance(said, str | Finding):
        said = [said]
    if not isinstance(said, Iterable):
        return _unknown(f"{check.function} returned {type(said).__name__}; a bool was expected")
    hits = []
    for item in said:
        spans = list(item.span_ids) if isinstance(item, Finding) else []
        hits.append(_hit(traces, spans, item.message if isinstance(item, Finding) else str(item)))
    return Outcome(hits)


def _called(function: Callable[[Any], Any], argument: Any) -> tuple[Any, str | None]:
    """Call a user's function; its own crash becomes a text."""
    try:
        said = function(argument)
        return (
            list(said) if isinstance(said, Iterable) and not isinstance(said, str) else said
        ), None
    except TrajscopeError:
        raise
    except (Exception, SystemExit) as error:
        return None, f"{type(error).__name__}: {error}"


def _unknown(reason: str) -> Outcome:
    return Outcome(unknown=[Hit((), reason)], reason=reason)


def _hit(traces: Traces, span_ids: list[str], said: str) -> Hit:
    steps = {
        step.span_id: LineStep(step)
        for trajectory in traces.trajectories
        for step in trajectory.walk()
        if step.span_id in span_ids
    }
    witnesses = tuple(steps[span] for span in span_ids if span in steps)
    return Hit(witnesses, said, tuple(span_ids))


@lru_cache(maxsize=256)
def load_function(path: str, name: str) -> Callable[[Any], Any]:
    """Return a function of a Python file; the file is run, once.

    Raises:
        UsageError: there is no such file or function, or the file cannot be run.
    """
    at = Location(path)
    if not Path(path).is_file():
        raise UsageError("is no file; a Python file was expected", at=at)
    spec = importlib.util.spec_from_file_location(f"_trajscope_rule_{abs(hash(path))}", path)
    if spec is None or spec.loader is None:
        raise UsageError("is no Python file (got no .py)", at=at)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise UsageError(f"cannot be run: {type(error).__name__}: {error}", at=at) from error
    function = getattr(module, name, None)
    if not callable(function):
        known = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_")]
        raise UsageError(
            f"has no function {name!r:.80}",
            at=at,
            hint=f"it has {', '.join(known)}" if known else None,
        )
    return function  # type: ignore[no-any-return]
