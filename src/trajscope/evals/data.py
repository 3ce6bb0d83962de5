"""The data of `run_evals`: items, their turns, and the scorers and gates they are judged by.

One thing a newcomer would get wrong: an item that holds its own output, trajectory or trace id is
judged as it was recorded; only the others are run by the target.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from reprlib import repr as shown
from typing import Any, Literal

from pydantic.alias_generators import to_camel

from trajscope.errors import UsageError
from trajscope.evals.scorer import Compat, StepScorer

Bucket = Literal["agent", "trajectory"]
BUCKETS: tuple[Bucket, ...] = ("agent", "trajectory")
"""What the scorers of a mapping judge: the agent's output, or its trajectory."""

Named = Callable[[Any], StepScorer[Any, Any] | None]
"""Makes a scorer of what is none yet (a name, a scorer of trajectories); None: it cannot."""

_RECORDED = ("output", "trajectory", "trace_id")
_ASKED = ("input", "inputs", "turns")
_FACTS = ("ground_truth", "expected_trajectory", "request_context", "id", "metadata")
_KEYS = (*_ASKED, *_RECORDED, *_FACTS)
_TURN_KEYS = ("input", "scorers", "gates")


@dataclass(frozen=True, slots=True)
class Threshold:
    """What the average of a scorer must reach, ends included; None is no bound."""

    low: float | None = None
    high: float | None = None

    def holds(self, average: float) -> bool:
        """Return whether an average is within the bounds."""
        return (self.low is None or average >= self.low) and (
            self.high is None or average <= self.high
        )


@dataclass(frozen=True, slots=True)
class Graded:
    """A scorer with what is demanded of it.

    threshold: None demands nothing; said: the threshold as it was given. bucket: None for scorers
    given as a list.
    """

    scorer: StepScorer[Any, Any]
    threshold: Threshold | None = None
    said: Any = None
    bucket: Bucket | None = None
    is_gate: bool = False

    @property
    def wants_trajectory(self) -> bool:
        """Whether its runs hold the trajectory as output."""
        return self.bucket == "trajectory" or self.scorer.type == "trajectory"


@dataclass(frozen=True, slots=True)
class Turn:
    """One input of an item, with the scorers that judge this turn alone."""

    input: Any
    graded: tuple[Graded, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to evaluate: what is asked, or what is recorded, and what is known to be right."""

    index: int
    turns: tuple[Turn, ...]
    given: Mapping[str, Any]

    @property
    def is_recorded(self) -> bool:
        """Whether the item holds what a target would have given."""
        return any(self.given.get(key) is not None for key in _RECORDED)

    @property
    def has_turns(self) -> bool:
        """Whether its turns are told apart in the result."""
        return "turns" in self.given


def read_items(
    data: Any, *, runs: bool, compat: Compat | None, named: Named = lambda _value: None
) -> list[Item]:
    """Return the items of the data.

    runs: whether there is a target to run those that are not recorded.

    Raises:
        UsageError: there are none, or one is malformed, named by its place.
    """
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
        raise UsageError(f"data: is no list of items (got {shown(data)}); mappings were expected")
    items = [
        _read_item(index, given, runs=runs, compat=compat, named=named)
        for index, given in enumerate(data)
    ]
    if not items:
        raise UsageError("data: is empty; at least one item was expected")
    return items


def _read_item(index: int, given: Any, *, runs: bool, compat: Compat | None, named: Named) -> Item:
    place = f"data[{index}]"
    values = _values(place, given, _KEYS, compat)
    asked = [key for key in _ASKED if key in values]
    item = Item(index, (), values)
    if len(asked) > 1:
        raise UsageError(f"{place}: has {' and '.join(asked)}; one of them was expected")
    if not asked and not item.is_recorded:
        raise UsageError(
            f"{place}: has neither {', '.join(_ASKED)} nor a recorded {' or '.join(_RECORDED)}"
        )
    if not item.is_recorded and not runs:
        raise UsageError(
            f"{place}: is not recorded, and there is no target to run it",
            hint="give target=, or the item's output, trajectory or trace_id",
        )
    if item.is_recorded and "turns" in asked:
        raise UsageError(f"{place}: is recorded and has turns; the turns of a record are unknown")
    turns = tuple(_read_turns(place, values, compat, named))
    if not turns:
        raise UsageError(f"{place}: {asked[0]} is empty; at least one was expected")
    return Item(index, turns, values)


def _read_turns(
    place: str, values: Mapping[str, Any], compat: Compat | None, named: Named
) -> Iterable[Turn]:
    if "turns" not in values and "inputs" not in values:
        yield Turn(values.get("input"))
        return
    key = "turns" if "turns" in values else "inputs"
    if isinstance(values[key], str | Mapping) or not isinstance(values[key], Sequence):
        raise UsageError(f"{place}.{key}: is no list (got {shown(values[key])})")
    for index, said in enumerate(values[key]):
        if key == "inputs":
            yield Turn(said)
            continue
        where = f"{place}.turns[{index}]"
        turn = _values(where, said, _TURN_KEYS, compat)
        if "input" not in turn:
            raise UsageError(f"{where}: has no input; one was expected")
        scorers = read_scorers(turn.get("scorers", ()), f"{where}.scorers", named)
        gates = read_gates(turn.get("gates", ()), f"{where}.gates", named)
        yield Turn(turn["input"], refuse_repeats((*gates, *scorers), where, compat))


def _values(place: str, given: Any, known: Sequence[str], compat: Compat | None) -> dict[str, Any]:
    """Return a mapping's members under our names; by default an unknown one is refused."""
    if not isinstance(given, Mapping):
        raise UsageError(f"{place}: is no mapping (got {shown(given)})")
    names = _spellings(tuple(known))
    unknown = [key for key in given if key not in names]
    if unknown and compat is None:
        near = difflib.get_close_matches(str(unknown[0]), names, 1)
        raise UsageError(
            f"{place}: {unknown[0]} is unknown; expected one of {', '.join(known)}",
            hint=f"did you mean {near[0]}?" if near else "put data of your own into metadata",
        )
    return {names[key]: value for key, value in given.items() if key in names}


@cache
def _spellings(known: tuple[str, ...]) -> Mapping[str, str]:
    return {to_camel(name): name for name in known} | {name: name for name in known}


def read_scorers(
    scorers: Any, place: str, named: Named = lambda _value: None
) -> tuple[Graded, ...]:
    """Return the scorers of a list, or of a mapping with the lists `agent` and `trajectory`.

    An entry is a scorer, or a mapping with `scorer` and `threshold` (a number it must reach, or
    `min` and `max`).

    Raises:
        UsageError: an entry is none of these, named by its place.
    """
    if not isinstance(scorers, Mapping):
        return tuple(_read_list(scorers, place, named))
    if not scorers or any(key not in BUCKETS for key in scorers):
        raise UsageError(
            f"{place}: has the keys {shown(list(scorers))}; expected {' and '.join(BUCKETS)}"
        )
    return tuple(
        graded
        for bucket in BUCKETS
        for graded in _read_list(scorers.get(bucket, ()), f"{place}.{bucket}", named, bucket)
    )


def read_gates(gates: Any, place: str, named: Named = lambda _value: None) -> tuple[Graded, ...]:
    """Return the gates of a list: scorers whose average must be 1.

    Raises:
        UsageError: an entry is no scorer, or has a threshold.
    """
    found = []
    for index, graded in enumerate(_read_list(gates, place, named)):
        if graded.threshold is not None:
            raise UsageError(f"{place}[{index}]: is a gate and has a threshold; a gate's is 1")
        found.append(Graded(graded.scorer, Threshold(low=1), is_gate=True))
    return tuple(found)


def _read_list(
    entries: Any, place: str, named: Named, bucket: Bucket | None = None
) -> Iterable[Graded]:
    if isinstance(entries, str | Mapping) or not isinstance(entries, Iterable):
        raise UsageError(f"{place}: is no list of scorers (got {shown(entries)})")
    for index, entry in enumerate(entries):
        where = f"{place}[{index}]"
        config = entry if isinstance(entry, Mapping) else {"scorer": entry}
        unknown = [key for key in config if key not in ("scorer", "threshold")]
        if unknown or "scorer" not in config:
            raise UsageError(
                f"{where}: has the keys {shown(list(config))}; expected scorer and threshold"
            )
        scorer = config["scorer"]
        made = scorer if isinstance(scorer, StepScorer) else named(scorer)
        if made is None:
            raise UsageError(
                f"{where}: is no scorer (got {shown(scorer)})", hint="make one: create_scorer"
            )
        made.check_runnable()
        said = config.get("threshold")
        threshold = _read_threshold(said, where) if "threshold" in config else None
        yield Graded(made, threshold, said, bucket)


def _read_threshold(said: Any, place: str) -> Threshold:
    if isinstance(said, Mapping):
        bounds = Threshold(said.get("min"), said.get("max"))
        well_formed = bool(said) and set(said) <= {"min", "max"}
    else:
        bounds, well_formed = Threshold(said), said is not None
    known = [bound for bound in (bounds.low, bounds.high) if bound is not None]
    if not well_formed or not known or not all(map(_is_share, known)):
        raise UsageError(
            f"{place}: the threshold is {shown(said)}; a number from 0 to 1, or min and max of "
            "them were expected"
        )
    if len(known) == 2 and known[0] > known[1]:
        raise UsageError(f"{place}: the threshold's min {known[0]} is above its max {known[1]}")
    return bounds


def _is_share(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and 0 <= value <= 1


def refuse_repeats(
    graded: tuple[Graded, ...], place: str, compat: Compat | None
) -> tuple[Graded, ...]:
    """Return the scorers, whose results are told apart by id; of equal ids the reference has one.

    Raises:
        UsageError: two have one id.
    """
    by_id: dict[tuple[bool, Bucket | None, str], Graded] = {}
    for one in graded:
        key = (compat is not None and one.is_gate, one.bucket, one.scorer.id)
        if key in by_id and compat is None:
            raise UsageError(
                f"{place}: two scorers have the id {one.scorer.id}; their results could not be "
                "told apart",
                hint="give one of them another id",
            )
        by_id[key] = one
    return tuple(by_id.values())
