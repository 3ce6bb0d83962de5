"""Where the results of calls stand: an index over the messages of a group of traces.

One thing a newcomer would get wrong: input messages repeat the history, and call ids repeat between
agents. The answer to a call is what the *first later* model call was given, not the first found.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trajscope.assemble._draft import Draft, TraceDraft, owner_of
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
        self._unnamed: dict[tuple[int, int], list[_Given]] = defaultdict(list)
        for index, trace in enumerate(traces):
            told = (d for d in trace.drafts if d.is_model_call or d.reading.responses)
            for draft in sorted(told, key=lambda d: d.time_key):
                self._add(index, draft)

    def _add(self, index: int, draft: Draft) -> None:
        start = draft.span.start_ns
        moment = (index, float("inf") if start is None else float(start))
        mine: dict[str, _Given] = {}
        for response in draft.reading.responses:
            for key in _keys(response):
                if key not in mine:
                    mine[key] = _Given(moment, [])
                    self._given[self._sessions[index], key].append(mine[key])
                mine[key].responses.append(response)
        if draft.is_model_call:
            self._unnamed[index, owner_of(draft)].append(_Given(moment, _without_a_name(draft)))

    def to_request(self, index: int, draft: Draft, rank: int) -> Answer | None:
        """Return the answer to the request at `rank` of a model call of the trace at `index`."""
        requests = draft.reading.requests
        request = requests[rank]
        if request.call_id is not None:
            found = self._to_call(index, draft, request.call_id, request.name)
            return found or self._by_place(index, draft, rank)
        alike = [i for i, r in enumerate(requests) if r.call_id is None and r.name == request.name]
        key = "\0" + request.name
        for given in self._later(index, draft, key):
            if len(given.responses) >= len(alike):
                return Answer(given.responses[alike.index(rank) - len(alike)], *given.moment)
        return self._by_place(index, draft, rank)

    def _by_place(self, index: int, draft: Draft, rank: int) -> Answer | None:
        """The answer by its place alone, where a recorder keeps neither ids nor names of answers.

        The next model call of the same agent was given just as many more answers as were asked for.
        """
        known, asked = len(_without_a_name(draft)), len(draft.reading.requests)
        later = self._unnamed[index, owner_of(draft)]
        for given in later[bisect_right(later, self._moment(index, draft), key=_moment_of) :]:
            if len(given.responses) != known:  # as many: a span around or within the same call
                more = given.responses[known:]
                return Answer(more[rank], *given.moment) if len(more) == asked else None
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
        given = self._given.get((self._sessions[index], key), [])
        return given[bisect_right(given, self._moment(index, draft), key=_moment_of) :]

    def _moment(self, index: int, draft: Draft) -> tuple[int, float]:
        start = draft.span.start_ns
        return index, -1.0 if start is None else float(start)


def _moment_of(given: _Given) -> tuple[int, float]:
    return given.moment


def _without_a_name(draft: Draft) -> list[ToolResponse]:
    return [r for r in draft.reading.responses if r.call_id is None and r.name is None]


def _keys(response: ToolResponse) -> Iterator[str]:
    """By id, for the call of that id; by name too, for a request that has lost its id."""
    if response.call_id is not None:
        yield response.call_id
    if response.name is not None:
        yield "\0" + response.name
