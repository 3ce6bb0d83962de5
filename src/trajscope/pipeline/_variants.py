"""What the comparison says of all traces that fit an expectation alike, with holes for the rest.

One thing a newcomer would get wrong: a variant belongs to no expectation. It knows the first
expected step and the third step taken; their names, spans and data are filled in for each trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from trajscope.scorers._comparison import MAX_EXTRA_LINES, REPEAT_PENALTY, hint_of
from trajscope.scorers._mismatches import mismatch
from trajscope.scorers._results import ComparisonResult, Pair, PairStatus
from trajscope.store.encoding import encode_json
from trajscope.store.scored import FoundRow, found_row

_ONCE = 6
"""Holes that a trace fills once: trace id, repeated names, requested names and three scores."""


class Line(NamedTuple):
    """What became of one expected step; at: the place of the step taken for it, if one was."""

    status: PairStatus
    at: int | None
    reasons: tuple[str, ...]


class Taken(NamedTuple):
    """What one trace fills into a variant, quoted as JSON unless it is a plain value.

    spans: span ids; span_texts: the part of a line that tells them. wanted: names of the expected
    steps. lines: those of the variant with the reasons of this trace.
    """

    trace_id: str
    names: Sequence[str]
    spans: Sequence[str]
    span_texts: Sequence[str]
    wanted: Sequence[str]
    repeated: Sequence[str]
    requested: Sequence[str]
    lines: Sequence[Line]


class Variant:
    """The comparison of all traces of one shape, taken from that of one of them.

    lines: one for each expected step. open: numbers of those whose reasons only a trace knows.
    """

    def __init__(self, result: ComparisonResult) -> None:
        wanted, taken = result.total_expected_steps, result.total_actual_steps
        self.reason = result.reason
        self.lines = [
            Line(pair.status, pair.actual_index, pair.reasons) for pair in result.alignment[:wanted]
        ]
        told = ("matched", "out_of_order")
        self.open = [n for n, line in enumerate(self.lines) if line.status not in told]
        self.faults = [n for n, line in enumerate(self.lines) if line.status != "matched"]
        self._scores = (result.score, result.score_low, result.score_high)
        self._texts = _scores_text(*self._scores)
        holes: list[int] = []
        self._text = _text(result, self.lines, taken, holes)
        self.size = len(self._text)
        # A getter of one thing alone would not give a tuple; there are always the six.
        self._pick = itemgetter(*holes)

    def fill(self, taken: Taken, *, penalised: bool) -> tuple[float | None, str]:
        """Return the value and the details of a trace; penalised: repeats cost something."""
        value, scores = self._scores[0], self._texts
        if penalised and taken.repeated and self.lines:
            cost = REPEAT_PENALTY * len(taken.repeated)
            low, high = (max(0.0, score - cost) for score in self._scores[1:])
            value = low if low == high else None
            scores = _scores_text(value, low, high)
        once = (quoted(taken.trace_id), _list(taken.repeated), _list(taken.requested), *scores)
        reasons = [_reasons(taken.lines[n].reasons) for n in self.open]
        values = (*taken.names, *taken.span_texts, *taken.wanted, *once, *reasons)
        return value, self._text % self._pick(values)

    def findings(self, taken: Taken, wanted: Sequence[str]) -> list[FoundRow]:
        """Return the findings of a trace: one for every expected step but those that matched."""
        found = []
        for n in self.faults:
            status, at, reasons = taken.lines[n]
            spans = (taken.spans[at],) if at is not None and taken.spans[at] else ()
            row = _fault(status, wanted[n], reasons)
            found.append(row._replace(trace_id=taken.trace_id, span_ids=spans))
        return found

    def hinted(
        self, hints: Sequence[tuple[int, str, bool]], numbers: Sequence[frozenset[int]]
    ) -> dict[int, Line]:
        """Return the lines of missing steps whose names steps have that do not count, by number."""
        found = {}
        for n in self.open:
            if self.lines[n].status == "missing":
                step = next((step for step in hints if step[0] in numbers[n]), None)
                if step is not None:
                    hint = hint_of(step[1], executed=step[2])
                    found[n] = self.lines[n]._replace(reasons=(hint,))
        return found


_faults: dict[tuple[str, str, tuple[str, ...]], FoundRow] = {}
_MAX_FAULTS = 10_000


def _fault(status: PairStatus, name: str, reasons: tuple[str, ...]) -> FoundRow:
    key = (status, name, reasons)
    row = _faults.get(key)
    if row is None:
        if len(_faults) >= _MAX_FAULTS:
            _faults.clear()
        pair = Pair(status=status, expected=name, reasons=reasons)
        row = _faults[key] = found_row(mismatch(pair, None))
    return row


def _text(result: ComparisonResult, lines: Sequence[Line], taken: int, holes: list[int]) -> str:
    """Return the details of a result as JSON with holes, and append what fills them to `holes`."""
    spans, wanted = taken, 2 * taken
    once = wanted + len(lines)
    trace, repeated, requested, score, low, high = range(once, once + _ONCE)
    more = iter(range(once + _ONCE, once + _ONCE + len(lines)))

    def names(first: int, places: Sequence[int | None]) -> str:
        holes.extend(first + at for at in places if at is not None)
        return "[" + ",".join(["%s"] * len(places)) + "]"

    def of(*statuses: PairStatus) -> list[int]:
        return [n for n, line in enumerate(lines) if line.status in statuses]

    used = {line.at for line in lines}
    left = [at for at in range(taken) if at not in used]
    wrong = [line.at for line in lines if line.status == "mismatched"]

    def seen(at: int) -> str:
        holes.extend((at, spans + at, trace))
        return f'"actual":%s,"actualIndex":{at}%s,"traceId":%s'

    def line(n: int) -> str:
        status, at, reasons = lines[n]
        holes.append(wanted + n)
        parts = [f'{{"status":"{status}","expected":%s,"expectedIndex":{n}']
        if at is not None:
            parts.append("," + seen(at))
        if status == "out_of_order":
            parts.append(_reasons(reasons).replace("%", "%%"))
        elif status != "matched":
            holes.append(next(more))
            parts.append("%s")
        return "".join(parts) + "}"

    def number(name: str, hole: int) -> str:
        holes.append(hole)
        return f'"{name}":%s'

    static = {
        "matchedSteps": result.matched_steps,
        "totalExpectedSteps": result.total_expected_steps,
        "totalActualSteps": result.total_actual_steps,
        "ordering": result.ordering,
        "scope": result.scope,
        "alignmentNotShown": result.alignment_not_shown,
        "reason": result.reason,
    }
    parts = [
        number("score", score),
        _json(static)[1:-1].replace("%", "%%"),
        '"missingSteps":' + names(wanted, of("missing", "mismatched")),
        '"extraSteps":' + names(0, [*wrong, *left]),
        '"outOfOrderSteps":' + names(wanted, of("out_of_order")),
        number("repeatedSteps", repeated),
        '"unknownSteps":' + names(wanted, of("unknown")),
        '"mismatchedSteps":' + names(wanted, of("mismatched")),
        number("requestedOnly", requested),
        number("scoreLow", low),
        number("scoreHigh", high),
    ]
    told = [line(n) for n in range(len(lines))]
    extra = ['{"status":"extra",' + seen(at) + "}" for at in left[:MAX_EXTRA_LINES]]
    return "{" + ",".join(parts) + ',"alignment":[' + ",".join(told + extra) + "]}"


def _scores_text(*scores: float | None) -> tuple[str, ...]:
    return tuple("null" if score is None else repr(score) for score in scores)


def quoted(text: str) -> str:
    """Return a text as JSON quotes it."""
    return f'"{text}"' if text.isalnum() and text.isascii() else _json(text)


def _list(names: Sequence[str]) -> str:
    return _json(names) if names else "[]"


def _reasons(reasons: Sequence[str]) -> str:
    return f',"reasons":{_json(reasons)}' if reasons else ""


def _json(value: Any) -> str:
    return encode_json(value).decode()
