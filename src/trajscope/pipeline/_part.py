"""What the comparison reads of one part of the traces: their steps by column, and what is beside.

One thing a newcomer would get wrong: the columns are Python lists, many times the size they have
in the store. So there are parts; whoever compares holds one of them at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from trajscope.model.step import BaseStep
from trajscope.pipeline._fits import Columns
from trajscope.pipeline._variants import quoted
from trajscope.store.scoring import Range, ScoringTables


class Asked(NamedTuple):
    """What the expectations want to be read: steps with arguments, and which names as hints."""

    with_args: bool
    hint_names: list[int]


class Names:
    """The names of the steps of one scoring: as steps, as numbers of their texts, and quoted."""

    def __init__(self, steps: Sequence[BaseStep]) -> None:
        first: dict[str, int] = {}
        self.steps = steps
        self.is_tool = [step.is_tool for step in steps]
        self.texts = [first.setdefault(step.name, n) for n, step in enumerate(steps)]
        self.quoted = [quoted(step.name) for step in steps]


class Part:
    """The traces of a range of numbers; everything is read when it is first asked for."""

    def __init__(self, tables: ScoringTables, names: Names, asked: Asked, part: Range) -> None:
        self._tables = tables
        self._names = names
        self._asked = asked
        self._range = part._asdict()
        self._columns: dict[str, Columns] = {}

    def steps(self, scope: str) -> Columns:
        """Return the steps that a scope holds of every trace."""
        if scope not in self._columns:
            self._columns[scope] = self._read(scope)
        return self._columns[scope]

    @cached_property
    def judged(self) -> dict[int, list[tuple[int, str]]]:
        """Which traces, by number and id, are held against each expectation."""
        found: dict[int, list[tuple[int, str]]] = {}
        read = self._tables.columns("scoring/read_judged", self._range)
        for e, t, trace_id in zip(read["e"], read["t"], read["trace_id"], strict=True):
            found.setdefault(e, []).append((t, trace_id))
        return found

    @cached_property
    def requested(self) -> dict[int, list[str]]:
        """The names of the calls that were only requested, by trace."""
        return dict(self._tables.rows("scoring/requested_steps", self._range))

    @cached_property
    def hints(self) -> dict[int, list[tuple[int, str, bool]]]:
        """What a missing step may be taken for, by trace: name, type, whether it was executed."""
        found: dict[int, list[tuple[int, str, bool]]] = {}
        params = {"names": self._asked.hint_names, **self._range}
        for t, name_no, step_type, executed in self._tables.rows("scoring/hinted_steps", params):
            found.setdefault(t, []).append((name_no, step_type, executed))
        return found

    def _read(self, scope: str) -> Columns:
        params = {"scope": scope, "with_args": self._asked.with_args, **self._range}
        read = self._tables.columns("scorers/comparison", params)
        bounds, at = {}, 0
        for t, size in Counter(read["t"]).items():
            bounds[t] = (at, at + size)
            at += size
        names, types = read["name_no"], read["step_type"]
        numbers: dict[Any, int] = {}
        kinds = [numbers.setdefault(k, len(numbers)) for k in zip(names, types, strict=True)]
        return Columns(
            bounds=bounds,
            names=names,
            kinds=kinds,
            types=types,
            spans=read["span_id"],
            span_texts=read["span_text"],
            success=read["success"],
            keys=read["args_key"],
            args=read["args"],
            texts=[self._names.texts[n] for n in names],
            quoted=[self._names.quoted[n] for n in names],
        )
