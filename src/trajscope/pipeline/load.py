"""Trajectories for commands: out of captures in memory, or out of a store.

One thing a newcomer would get wrong: all paths of one call are *one* capture. A trace's spans and
its log records mostly lie in two files, and a result may stand in another trace of the same file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trajscope.assemble import Assembled, assemble_traces
from trajscope.conventions import Reader, load_mapping
from trajscope.errors import InputError, Location, Problems, SpanError, UsageError
from trajscope.evals.select import TraceFacts, facts_of
from trajscope.formats import format_named, parse_size, read_captures
from trajscope.model.span import Json, LogRecord, Span
from trajscope.model.trajectory import Trajectory

if TYPE_CHECKING:
    from trajscope.conventions._mapping import MappingConvention
    from trajscope.redact import Redactor
    from trajscope.store import Store


NO_TRACE = "there is no trace; a store gets some with: trajscope ingest CAPTURE --db FILE"


@dataclass(frozen=True)
class Loaded:
    """Trajectories with what was wrong with their input.

    assembled: in order of each trace's first span. span_count, log_count: spans
    and log records read, repeats included.
    """

    assembled: list[Assembled]
    problems: Problems
    span_count: int = 0
    log_count: int = 0

    @property
    def trajectories(self) -> list[Trajectory]:
        """The trajectories alone."""
        return [found.trajectory for found in self.assembled]

    def nothing_understood(self) -> str | None:
        """Return a sentence when nothing that was read is a step, else None."""
        has_steps = any(trajectory.has_steps for trajectory in self.trajectories)
        return nothing_understood(len(self.assembled), has_steps, self.span_count)


class Traces:
    """Traces one after the other, counted as they pass; iterate once.

    Those of a store are read as they are asked for, a few at a time, so a large store can be shown.
    """

    def __init__(
        self, assembled: Iterable[Assembled], problems: Problems, span_count: int | None = None
    ) -> None:
        self._assembled = assembled
        self._span_count = span_count
        self._traces = self._spans = 0
        self._has_steps = False
        self.problems = problems

    def __iter__(self) -> Iterator[Assembled]:
        for one in self._assembled:
            self._traces += 1
            self._has_steps |= one.trajectory.has_steps
            self._spans += len(one.trace.drafts)
            yield one

    def nothing_understood(self) -> str | None:
        """Return a sentence when nothing that passed is a step, else None."""
        spans = self._spans if self._span_count is None else self._span_count
        return nothing_understood(self._traces, self._has_steps, spans)


def nothing_understood(traces: int, has_steps: bool, spans: int) -> str | None:
    """Return a sentence when there is no trace, or none of so many spans is a step, else None."""
    if not traces:
        return NO_TRACE
    if has_steps:
        return None
    return (
        f"no agent steps: none of {spans:,} spans belongs to a vocabulary "
        "trajscope knows (plain HTTP or database spans are no steps)"
    )


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """How captures are read, as the command line says it.

    All is looked at once, so that a slip in it is told before a large capture is read.

    Raises:
        UsageError: the mapping file is wrong, with file, line and key; or another option is.
    """

    strict: bool = False
    max_expanded: str = "4GiB"
    format_name: str | None = None
    map_file: str | None = None
    drop_attributes: tuple[str, ...] = ()
    redactor: Redactor | None = None
    problems: Problems = field(init=False)
    mapping: MappingConvention | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "problems", Problems(strict=self.strict))
        parse_size(self.max_expanded, "--max-expanded")
        if self.format_name is not None:
            format_named(self.format_name)
        if not all(self.drop_attributes):
            raise UsageError(
                "no name of an attribute (''); expected a name or a pattern of names",
                at=Location("--drop-attributes"),
                hint="for example http.* or db.statement",
            )
        mapping = None if self.map_file is None else load_mapping(self.map_file)
        object.__setattr__(self, "mapping", mapping)

    def reader(self) -> Reader:
        """Return the reader of spans, the user's mapping file beside the conventions."""
        return Reader(() if self.mapping is None else (self.mapping,))

    def mapping_mark(self) -> str:
        """Return which mapping file reads a capture, for its format: ` + map NAME HASH`, or ""."""
        if self.mapping is None:
            return ""
        name = self.mapping.name.removeprefix("map:")
        return f" + map {name} {self.mapping.content_hash[:12]}"

    def refuse_mapping(self) -> None:
        """Refuse a mapping file beside a store: its spans were read when they came in.

        Raises:
            UsageError: there is one.
        """
        if self.mapping is not None:
            raise UsageError(
                "--map has no effect on a store: its spans were read when they were ingested",
                hint="ingest the captures with --map into a new store, or read them without --db",
            )


def traces(targets: Sequence[str], options: InputOptions, db: str | None = None) -> Traces:
    """Read captures, or pass through the traces of a store that have these ids (else all).

    Raises:
        UsageError: neither a capture nor a store was named, or a mapping beside a store.
        InputError: a capture cannot be read, or holds nothing that can.
        SpanError, StoreError: as they are asked for: the store holds no trace of that id, or cannot
            be opened.
    """
    if db is None:
        loaded = load(targets, options)
        return Traces(loaded.assembled, loaded.problems, loaded.span_count)
    options.refuse_mapping()
    return Traces(_of_store(targets, db), options.problems)


def _of_store(targets: Sequence[str], db: str) -> Iterator[Assembled]:
    # Late: DuckDB and Arrow cost half a second that reading a file does not need.
    from trajscope.store import Store

    with Store.open(db, read_only=True) as store:
        yield from stored(store, targets or None)


def load(targets: Sequence[str], options: InputOptions, db: str | None = None) -> Loaded:
    """Read captures, or the traces of a store that have these ids (all, when none is given).

    Raises:
        UsageError: neither a capture nor a store was named, or a mapping beside a store.
        InputError: a capture cannot be read, or holds nothing that can.
        SpanError: the store holds no trace of that id.
        StoreError: the store cannot be opened.
    """
    if db is not None:
        options.refuse_mapping()
        found = list(_of_store(targets, db))
        return Loaded(found, options.problems, sum(len(one.trace.drafts) for one in found))
    if not targets:
        raise UsageError("no capture was named", hint="give a file, a directory, - or --db")
    spans: list[Span] = []
    logs: list[LogRecord] = []
    for record in records(targets, options):
        if isinstance(record, Span):
            spans.append(record)
        else:
            logs.append(record)
    _refuse_nothing(targets, options.problems, spans, logs)
    assembled = assemble_traces(spans, options.reader(), logs)
    return Loaded(assembled, options.problems, len(spans), len(logs))


def records(targets: Sequence[str], options: InputOptions) -> Iterator[Span | LogRecord]:
    """Yield the records of all captures at `targets`."""
    limit = parse_size(options.max_expanded)
    return read_captures(
        targets, options.problems, format_name=options.format_name, max_expanded=limit
    )


_TOLD = 3
"""Problems that are told of captures in which nothing could be read."""


def _refuse_nothing(
    targets: Sequence[str], problems: Problems, spans: list[Span], logs: list[LogRecord]
) -> None:
    if not spans and not logs and problems.count:
        told = problems.items[:_TOLD]
        rest = problems.count - len(told)
        more = f" (and {rest} more problem{'s'[: rest - 1]})" if rest else ""
        said = "; ".join(dict.fromkeys(problem.message for problem in told))
        raise InputError(f"nothing could be read: {said}{more}", at=told[0].at, hint=told[0].hint)
    if not spans and not logs and not problems.skipped:
        raise InputError(f"no spans in {', '.join(targets)}; expected at least one")


def stored(store: Store, trace_ids: Sequence[str] | None = None) -> Iterator[Assembled]:
    """Yield traces of a store, assembled from their stored readings.

    Raises:
        SpanError: an id that was asked for is not stored.
    """
    if trace_ids is not None:
        refuse_unknown(store, trace_ids)
    contexts = store.contexts(trace_ids)
    for trace_id, found in store.iter_traces(trace_ids):
        group = list(found)
        if answering := contexts.get(trace_id):
            group += (record for _, more in store.iter_traces(answering) for record in more)
        readings = {(span.trace_id, span.span_id): reading for span, reading in group}
        for assembled in assemble_traces(
            (span for span, _ in group),
            lambda span: readings[span.trace_id, span.span_id],  # noqa: B023
        ):
            if assembled.trajectory.trace_id == trace_id:
                yield assembled


def refuse_unknown(store: Store, trace_ids: Sequence[str]) -> None:
    """Refuse ids of traces that a store does not hold.

    Raises:
        SpanError: there is one.
    """
    known = set(store.trace_ids(trace_ids))
    for trace_id in trace_ids:
        if trace_id not in known:
            raise SpanError(
                f"no trace {trace_id!r} in the store", hint="trajscope list shows the ids"
            )


def facts(assembled: Assembled) -> TraceFacts:
    """Return what selectors may ask of a trace."""
    spans = [draft.span for draft in assembled.trace.drafts]
    services = {name: None for s in spans if (name := s.service_name)}

    def values(key: str) -> Iterable[Json]:
        for span in spans:
            for attributes in (span.attributes, span.resource):
                if key in attributes:
                    yield attributes[key]

    roots = set(assembled.trajectory.root_span_ids)
    names = [s.name for s in spans if s.span_id in roots]
    return facts_of(assembled.trajectory, root_names=names, services=services, attributes=values)
