"""`TrajectoryExporter`: trajectories out of a running program, without a file.

One thing a newcomer would get wrong: a trace has no last span. Its root mostly ends last, but a
span may still come later; the trace is then given again, whole, in place of its forerunner.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from opentelemetry.context import attach, detach
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    TraceFlags,
    set_span_in_context,
)

from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.errors import UsageError
from trajscope.model.reading import Reading
from trajscope.model.span import Span
from trajscope.model.trajectory import Trajectory
from trajscope.telemetry._open_traces import OpenTraces, Waits
from trajscope.telemetry._spans import is_local_root, to_span

_log = logging.getLogger("trajscope.telemetry")

LATE_SECONDS = 5.0
"""How long spans that come after their trace was given are gathered until it is given again."""

Clock = Callable[[], float]


class TrajectoryExporter(SpanExporter):
    """A span exporter that gives the Trajectory of each trace when it has finished.

    Add it to a tracer provider with a simple or a batch span processor. A trace has finished when
    a span of it ended above which this process has none (no parent, or one in another process), or
    when it was silent for `quiet_seconds`; `force_flush` and `shutdown` give what there is. A
    trace that grows afterwards is given again, whole.

    on_trajectory: called with each trajectory; what it raises is logged, never passed on, and
    spans it records are dropped by samplers that respect their parent (the default one does).
    read: how a span is read; default every known convention. settle_seconds: how long to wait for
    further spans after a root ended. quiet_seconds: how long a trace none of whose roots ended may
    be silent. max_megabytes: of the spans of open traces together; beyond it the trace that was
    silent for longest is given as far as it goes, with a warning (`evicted` counts them). keep: how
    many trajectories `trajectories` holds, the latest ones. `failures` counts what went wrong.

    Raises:
        UsageError: a figure is negative.
    """

    def __init__(
        self,
        on_trajectory: Callable[[Trajectory], object] | None = None,
        *,
        read: Callable[[Span], Reading] | None = None,
        settle_seconds: float = 0.0,
        quiet_seconds: float = 300.0,
        max_megabytes: float = 100.0,
        keep: int = 1000,
        clock: Clock = time.monotonic,
    ) -> None:
        for name, figure in {
            "settle_seconds": settle_seconds,
            "quiet_seconds": quiet_seconds,
            "max_megabytes": max_megabytes,
            "keep": keep,
        }.items():
            if not figure >= 0:
                raise UsageError(f"{name}: is negative (got {figure!r}); at least 0 was expected")
        self._on_trajectory = on_trajectory
        self._read = read
        self._settle = settle_seconds
        self._keep = keep
        self._clock = clock
        self._changed = threading.Condition()
        waits = Waits(settle_seconds, max(settle_seconds, LATE_SECONDS), quiet_seconds)
        self._open = OpenTraces(waits, max_megabytes * 1e6)
        self._done: OrderedDict[str, Trajectory] = OrderedDict()
        self._delivering = threading.local()
        self._waiter: threading.Thread | None = None
        self._wakes_at = 0.0
        self._shut_down = False
        self.failures = 0
        self.evicted = 0

    @property
    def trajectories(self) -> tuple[Trajectory, ...]:
        """The latest trajectory of each finished trace, in the order they finished first."""
        with self._changed:
            return tuple(self._done.values())

    def clear(self) -> None:
        """Forget the trajectories that were given; traces that are still open stay."""
        with self._changed:
            self._done.clear()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Take ended spans in and give the traces that finished with them; never raises."""
        if self._shut_down:
            return SpanExportResult.FAILURE
        if getattr(self._delivering, "now", False):
            return SpanExportResult.SUCCESS  # recorded by the callback itself: no end otherwise
        arrived = list(self._read_in(spans))
        now = self._clock()
        with self._changed:
            for span, is_root in arrived:
                self._open.add(span, is_root=is_root, now=now)
            due = self._open.take_due(now)
            more, evicted = self._open.make_room()
            self.evicted += len(evicted)
            self._wait_for_next()
        if evicted:
            _log.warning(
                "no room for all open traces: %d given before they finished (the first is %s); "
                "raise max_megabytes",
                len(evicted),
                evicted[0],
            )
        self._deliver(due + more)
        return SpanExportResult.SUCCESS

    def _read_in(self, spans: Sequence[ReadableSpan]) -> Iterator[tuple[Span, bool]]:
        for span in spans:
            with self._contained("taking a span in"):
                yield to_span(span), is_local_root(span)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:  # noqa: ARG002
        """Give every trace that grew since it was last given, finished or not; never raises."""
        if getattr(self._delivering, "now", False):
            return False
        before = self.failures
        with self._changed:
            due = self._open.take_all()
        self._deliver(due)
        return self.failures == before

    def shutdown(self) -> None:
        """Give what is still open and stop; `trajectories` can be read afterwards."""
        with self._changed:
            self._shut_down = True
            self._changed.notify_all()
            waiter = self._waiter
        self.force_flush()
        if waiter is not None and waiter is not threading.current_thread():
            waiter.join(timeout=5)

    def _deliver(self, traces: list[list[Span]]) -> None:
        """Assemble traces and hand them on. Called without the lock: a callback may take long."""
        for spans in traces:
            with self._contained("assembling a trace"):
                for trajectory in assemble(spans, self._read or _reader()):
                    self._hand_on(trajectory)

    def _hand_on(self, trajectory: Trajectory) -> None:
        with self._changed:
            self._done[trajectory.trace_id or ""] = trajectory
            while len(self._done) > self._keep:
                self._done.popitem(last=False)
        if self._on_trajectory is None:
            return
        with self._contained("calling on_trajectory"), self._unrecorded():
            self._on_trajectory(trajectory)

    @contextmanager
    def _contained(self, doing: str) -> Iterator[None]:
        """Log what is raised: an exporter must never break the program it looks at."""
        try:
            yield
        except Exception:
            self.failures += 1
            _log.exception("trajscope failed while %s; the program goes on", doing)

    @contextmanager
    def _unrecorded(self) -> Iterator[None]:
        """Run the callback below a span that is not sampled: what it does is no agent's work."""
        parent = NonRecordingSpan(SpanContext(1, 1, is_remote=False, trace_flags=TraceFlags(0)))
        token = attach(set_span_in_context(parent))
        self._delivering.now = True
        try:
            yield
        finally:
            self._delivering.now = False
            detach(token)

    def _wait_for_next(self) -> None:
        """Have a thread wait for traces that finish by falling silent; called with the lock."""
        due_at = self._open.next_due()
        if due_at is None:
            return
        if self._waiter is None or not self._waiter.is_alive():
            self._waiter = threading.Thread(
                target=self._give_when_due, name="TrajectoryExporter", daemon=True
            )
            self._waiter.start()
        elif due_at < self._wakes_at:
            self._changed.notify_all()

    def _give_when_due(self) -> None:
        while True:
            with self._changed:
                due_at = self._open.next_due()
                if self._shut_down or due_at is None:
                    self._waiter = None
                    return
                now = self._clock()
                if due_at > now:
                    self._wakes_at = due_at
                    self._changed.wait(min(due_at - now, 3600.0))
                    continue
                due = self._open.take_due(now)
            self._deliver(due)


_known_reader: list[Reader] = []


def _reader() -> Reader:
    """Return the reader of every known convention, made when the first trace finishes."""
    if not _known_reader:
        _known_reader.append(Reader())
    return _known_reader[0]
