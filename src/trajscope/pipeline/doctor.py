"""How well captures are understood, and which evidence they lack.

One thing a newcomer would get wrong: noise that a convention knows as such is understood. Only
spans that no convention claims are not; and a figure is *missing* only where it could have been
there: a call that was refused has no result to record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from trajscope.assemble import Assembled, OutlineRow
from trajscope.conventions import conventions
from trajscope.model.reading import StepType
from trajscope.model.span import Span
from trajscope.model.step import ModelGenerationStep, ToolStep
from trajscope.pipeline.load import InputOptions, load, stored
from trajscope.ports import Hinting

NOISE, FOLDED = "noise", "folded into another span"

LACKS: Mapping[str, tuple[str, str, str]] = {
    "without_arguments": ("tool_calls", "content", "tool calls without arguments"),
    "without_result": ("tool_calls", "content", "tool calls without a result"),
    "unknown_outcome": ("tool_calls", "outcomes", "tool calls whose outcome is unknown"),
    "without_token_counts": ("model_calls", "tokens", "model calls without token counts"),
    "without_model_calls": ("agent_runs", "model_calls", "agent runs without model calls"),
}
"""What evidence can be missing: out of what, which hint of a convention helps, and in words."""


@dataclass(slots=True)
class Understanding:
    """What one convention made of its spans.

    types: spans by step type, `noise` and `folded into another span`. counts: tool calls, model
    calls, agent runs, and of these what `LACKS` names. hints: what to switch on, by what is
    missing.
    """

    types: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    hints: dict[str, str] = field(default_factory=dict)

    def lacks(self) -> list[str]:
        """Return which of `LACKS` occurred, in their order."""
        return [lack for lack in LACKS if self.counts[lack]]


@dataclass(slots=True)
class Unknown:
    """Spans of one scope that no convention understands: attribute prefixes, an example's name."""

    example: str
    spans: int = 0
    prefixes: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Coverage:
    """What `doctor` found.

    by_convention and unknown (by scope) split the spans; requested counts the tool calls without
    a span of their own. shape counts what is odd about the trees. missing_parents: ids, all of
    them. log_records counts those read, or those a store holds.
    """

    traces: int = 0
    spans: int = 0
    requested: int = 0
    log_records: int = 0
    by_convention: dict[str, Understanding] = field(default_factory=dict)
    unknown: dict[str, Unknown] = field(default_factory=dict)
    shape: Counter[str] = field(default_factory=Counter)
    missing_parents: list[str] = field(default_factory=list)

    @property
    def understood(self) -> int:
        """How many spans a convention understood."""
        return self.spans - sum(group.spans for group in self.unknown.values())


def examine(
    targets: Sequence[str],
    options: InputOptions,
    db: str | None = None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Coverage:
    """Return the coverage of captures, or of the traces of a store, one trace in memory at a time.

    progress: called with the number of stored traces that are examined, and of all.

    Raises:
        UsageError, InputError, SpanError, StoreError: see `load`.
    """
    if db is None:
        loaded = load(targets, options)
        found = coverage_of(loaded.assembled)
        found.log_records = loaded.log_count
        return found
    from trajscope.store import Store  # late, see `load`

    options.refuse_mapping()
    with Store.open(db, read_only=True) as store:
        every = len(set(targets)) or store.count()[1]
        found = coverage_of(_told(stored(store, targets or None), every, progress))
        found.log_records = store.log_count(targets or None)
        return found


def _told(
    found: Iterable[Assembled], every: int, progress: Callable[[int, int], None]
) -> Iterator[Assembled]:
    for done, assembled in enumerate(found, 1):
        yield assembled
        progress(done, every)


def coverage_of(found: Iterable[Assembled]) -> Coverage:
    """Return the coverage of assembled traces."""
    coverage = Coverage()
    for assembled in found:
        rows = assembled.outline()
        coverage.traces += 1
        for row in rows:
            _count_row(coverage, row)
        _count_shape(coverage, assembled)
        _count_evidence(coverage, assembled, rows)
    for name, understanding in coverage.by_convention.items():
        convention = conventions().get(name)
        if isinstance(convention, Hinting):
            helpful = {LACKS[lack][1] for lack in understanding.lacks()}
            understanding.hints = {k: v for k, v in convention.hints.items() if k in helpful}
    return coverage


def _count_row(coverage: Coverage, row: OutlineRow) -> None:
    if row.requested:
        coverage.requested += 1
        return
    coverage.spans += 1
    coverage.shape["unfinished"] += not row.span.ended
    if not row.reading.convention:
        _count_unknown(coverage.unknown, row.span)
        return
    types = coverage.by_convention.setdefault(row.reading.convention, Understanding()).types
    if row.step_type is not None:
        types[row.step_type.value] += 1
    else:
        types[NOISE if row.reading.step_type is None else FOLDED] += 1


def _count_unknown(unknown: dict[str, Unknown], span: Span) -> None:
    group = unknown.setdefault(span.scope_name, Unknown(span.name))
    group.spans += 1
    group.prefixes.update({".".join(name.split(".", 2)[:2]) for name in span.attributes})


_SHAPES = {
    "duplicate_merged": "repeated",
    "self_parent_broken": "cycles",
    "cycle_broken": "cycles",
    "negative_duration": "negative_durations",
    "clock_skew": "skewed",
}


def _count_shape(coverage: Coverage, assembled: Assembled) -> None:
    trajectory = assembled.trajectory
    coverage.shape["orphans"] += len(trajectory.orphans)
    coverage.missing_parents += trajectory.missing_parents
    for repair in trajectory.repairs:
        if repair.kind in _SHAPES:
            coverage.shape[_SHAPES[repair.kind]] += 1


def _count_evidence(coverage: Coverage, assembled: Assembled, rows: list[OutlineRow]) -> None:
    """Count what steps lack, for the convention that read the span each step points at."""
    readers = {r.span.span_id: r.reading.convention for r in rows if not r.requested}

    def counts(span_id: str | None) -> Counter[str]:
        name = readers.get(span_id or "", "")
        return coverage.by_convention.setdefault(name, Understanding()).counts

    for step in assembled.trajectory.walk():
        if isinstance(step, ToolStep):
            found = counts(step.span_id)
            found["tool_calls"] += 1
            found["without_arguments"] += step.tool_args is None
            found["unknown_outcome"] += step.success is None
            ran = step.executed and (step.from_messages or step.end_ns is not None)
            no_result = "tool_result" not in step.model_fields_set and step.success is not False
            found["without_result"] += ran and no_result
        elif isinstance(step, ModelGenerationStep):
            found, calls = counts(step.span_id), step.model_calls or 1
            found["model_calls"] += calls
            if step.prompt_tokens is None and step.completion_tokens is None:
                found["without_token_counts"] += calls
    for row, holds in _agents(rows):
        found = counts(row.span.span_id)
        found["agent_runs"] += 1
        found["without_model_calls"] += not holds


def _agents(rows: Iterable[OutlineRow]) -> list[tuple[OutlineRow, bool]]:
    """Return every agent run, and whether it holds a model call or is known to hold none."""
    holds: dict[int, bool] = {}
    agents: list[OutlineRow] = []
    open_runs: list[OutlineRow] = []
    for row in rows:
        while open_runs and open_runs[-1].depth >= row.depth:
            open_runs.pop()
        if row.is_model_call:
            holds |= {id(run): True for run in open_runs}
        if row.step_type is StepType.AGENT_RUN:
            holds[id(row)] = row.reading.model_calls is not None
            agents.append(row)
            open_runs.append(row)
    return [(row, holds[id(row)]) for row in agents]
