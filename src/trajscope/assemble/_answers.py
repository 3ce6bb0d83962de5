"""Where the results of calls stand: an index over the messages of a group of traces.

One thing a newcomer would get wrong: input messages repeat the history, and call ids repeat between
agents. The answer to a call is what the *first later* model call was given, not the first found.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from trajscope.assemble._draft import Draft, TraceDraft
from trajscope.model.reading import ToolResponse


class _Given(NamedTuple):
    """What one model call was given in answer to one call id, or to one tool's name."""

    moment: tuple[int, float]
    responses: list[ToolResponse]


class Answer(NamedTuple):
    """A result, the place of the trace that holds it, and when its model call was given it."""

    response: ToolResponse
    place: int
    start_ns: float


class Answers:
    """Tool results by session and call, in order of the traces and of time inside them.

    A trace of a named session only looks at its session; one without looks at traces that name no
    session either (client instrumentation writes one trace per model call).
    """

    def __init__(self, traces: Sequence[TraceDraft]) -> None:
        self._sessions = [trace.session_id() for trace in traces]
        self._given: dict[tuple[str | None, str], list[_Given]] = defaultdict(list)
        for index, trace in enumerate(traces):
            for draft in sorted(trace.model_calls(), key=lambda d: d.time_key):
                self._add(index, draft)

    def _add(self, index: int, draft: Draft) -> None:
        start = draft.span.start_ns
        moment = (index, float("inf") if start is None else float(start))
        mine: dict[str, _Given] = {}
        for response in draft.reading.responses:
            key = _key(response.call_id, response.name)
            if key is None:
                continue
            if key not in mine:
                mine[key] = _Given(moment, [])
                self._given[self._sessions[index], key].append(mine[key])
            mine[key].responses.append(response)

    def to_request(self, index: int, draft: Draft, rank: int) -> Answer | None:
        """Return the answer to the request at `rank` of a model call of the trace at `index`."""
        requests = draft.reading.requests
        request = requests[rank]
        if request.call_id is not None:
            return self._to_call(index, draft, request.call_id, request.name)
        alike = [i for i, r in enumerate(requests) if r.call_id is None and r.name == request.name]
        key = "\0" + request.name
        for given in self._later(index, draft, key):
            if len(given.responses) >= len(alike):
                return Answer(given.responses[alike.index(rank) - len(alike)], *given.moment)
        return None

    def to_call(self, index: int, draft: Draft, call_id: str, name: str) -> ToolResponse | None:
        """Return the answer to a call by its id, given to a model after `draft` began."""
        found = self._to_call(index, draft, call_id, name)
        return None if found is None else found.response

    def _to_call(self, index: int, draft: Draft, call_id: str, name: str) -> Answer | None:
        for given in self._later(index, draft, call_id):
            response = given.responses[-1]
            if response.name in (None, name):
                return Answer(response, *given.moment)
        return None

    def _later(self, index: int, draft: Draft, key: str) -> list[_Given]:
        start = draft.span.start_ns
        moment = (index, -1.0 if start is None else float(start))
        given = self._given.get((self._sessions[index], key), [])
        return given[bisect_right(given, moment, key=lambda g: g.moment) :]


def _key(call_id: str | None, name: str | None) -> str | None:
    if call_id is not None:
        return call_id
    return None if name is None else "\0" + name
