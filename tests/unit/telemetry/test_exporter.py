"""Trajectories out of a running program: when they are given, and what must never go wrong."""

from __future__ import annotations

import logging
import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExportResult,
)
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    TraceFlags,
    Tracer,
    set_span_in_context,
)

from tests.support.agents import ask_for_weather
from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.errors import UsageError
from trajscope.model.reading import Reading
from trajscope.model.span import Span as OurSpan
from trajscope.model.trajectory import Trajectory
from trajscope.telemetry import TrajectoryExporter
from trajscope.telemetry._spans import to_span

TOOL = {"gen_ai.operation.name": "execute_tool"}


def tool(name: str) -> dict[str, str]:
    return {**TOOL, "gen_ai.tool.name": name}


@contextmanager
def traced(exporter: TrajectoryExporter, *, batch: bool = False) -> Iterator[Tracer]:
    """A tracer whose spans go to the exporter as they end, or in batches."""
    provider = TracerProvider()
    provider.add_span_processor(
        BatchSpanProcessor(exporter) if batch else SimpleSpanProcessor(exporter)
    )
    try:
        yield provider.get_tracer("test")
    finally:
        provider.shutdown()


def below(span: Span) -> Context:
    return set_span_in_context(span)


def names(trajectory: Trajectory) -> list[str]:
    return [step.name for step in trajectory.walk()]


class Clock:
    """Seconds that pass when told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Unwatched(TrajectoryExporter):
    """Without the thread that waits for silent traces: it would look at the test's clock too."""

    def _wait_for_next(self) -> None:
        pass


def recorded(work: Callable[[Tracer], object]) -> list[ReadableSpan]:
    """The spans some work records, in the order they ended."""
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    work(provider.get_tracer("test"))
    return list(kept.get_finished_spans())


def two_nested_tools(tracer: Tracer) -> None:
    with (
        tracer.start_as_current_span("a", attributes=tool("outer")),
        tracer.start_as_current_span("b", attributes=tool("inner")),
    ):
        pass


def test_a_real_agent_gives_its_trajectory_when_its_root_ends() -> None:
    exporter = TrajectoryExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    ask_for_weather(provider)
    (trajectory,) = exporter.trajectories
    assert trajectory.root is not None
    assert trajectory.root.name == "weather"
    calls = [step for step in trajectory.walk() if step.is_tool]
    assert [(c.name, getattr(c, "success")) for c in calls] == [  # noqa: B009
        ("get_weather", True),
        ("get_time", True),
    ]
    assert trajectory.model_calls == 2
    provider.shutdown()
    assert exporter.trajectories == (trajectory,)


@pytest.mark.parametrize("batch", [False, True])
def test_a_callback_gets_each_trace_once_by_itself(batch: bool) -> None:
    got: list[Trajectory] = []
    with traced(TrajectoryExporter(got.append), batch=batch) as tracer:
        for _ in range(3):
            two_nested_tools(tracer)
    assert [names(t) for t in got] == [["outer", "inner"]] * 3
    assert len({t.trace_id for t in got}) == 3


@settings(max_examples=30)
@given(st.randoms(use_true_random=False), st.integers(1, 4))
def test_the_last_trajectory_is_the_whole_whatever_the_order_and_the_batches(
    rng: random.Random, size: int
) -> None:
    spans = [span for _ in range(3) for span in recorded(two_nested_tools)]
    rng.shuffle(spans)
    exporter = TrajectoryExporter()
    for at in range(0, len(spans), size):
        assert exporter.export(spans[at : at + size]) is SpanExportResult.SUCCESS
    exporter.shutdown()
    wanted = assemble([to_span(s) for s in spans], Reader())
    assert sorted(exporter.trajectories, key=repr) == sorted(wanted, key=repr)


def test_a_late_span_makes_the_trace_come_again_whole() -> None:
    got: list[Trajectory] = []
    clock = Clock()
    exporter = Unwatched(got.append, clock=clock)
    inner, outer = recorded(two_nested_tools)
    exporter.export([outer])
    assert [names(t) for t in got] == [["outer"]]
    exporter.export([inner])
    assert len(got) == 1  # more may be on its way
    clock.now += 6
    exporter.export(recorded(two_nested_tools))
    assert [names(t) for t in got[1:]] == [["outer", "inner"], ["outer", "inner"]]
    assert [t.trace_id for t in exporter.trajectories] == [got[0].trace_id, got[1].trace_id]
    assert got[2].trace_id == got[0].trace_id
    exporter.force_flush()
    assert len(got) == 3
    exporter.shutdown()


def test_settling_waits_for_late_spans_so_that_a_trace_comes_once() -> None:
    got: list[Trajectory] = []
    clock = Clock()
    exporter = Unwatched(got.append, settle_seconds=10, clock=clock)
    inner, outer = recorded(two_nested_tools)
    exporter.export([outer])
    clock.now += 9
    exporter.export([inner])
    clock.now += 9
    exporter.export(recorded(two_nested_tools))
    assert got == []
    clock.now += 1
    exporter.export([])
    assert [names(t) for t in got] == [["outer", "inner"]]
    exporter.shutdown()
    assert len(got) == 2


def test_a_slow_agent_is_not_cut_in_two() -> None:
    clock = Clock()
    exporter = Unwatched(clock=clock)
    inner, outer = recorded(two_nested_tools)
    exporter.export([inner])
    clock.now += 100_000
    exporter.export([])
    (orphan,) = exporter.trajectories
    assert orphan.orphans
    exporter.export([outer])
    (whole,) = exporter.trajectories
    assert (names(whole), whole.orphans) == (["outer", "inner"], ())
    exporter.shutdown()


def test_a_silent_trace_without_a_root_comes_by_itself() -> None:
    given_now = threading.Event()
    exporter = TrajectoryExporter(lambda _: given_now.set(), quiet_seconds=0.05)
    inner, _ = recorded(two_nested_tools)
    exporter.export([inner])
    assert given_now.wait(timeout=10)
    (trajectory,) = exporter.trajectories
    assert len(trajectory.orphans) == 1
    exporter.shutdown()


def test_a_parent_in_another_process_makes_a_root_of_this_one() -> None:
    exporter = TrajectoryExporter()
    caller = SpanContext(0xABC, 0xDEF, is_remote=True, trace_flags=TraceFlags(1))
    with traced(exporter) as tracer:
        context = below(NonRecordingSpan(caller))
        for name in ("first", "second"):  # two requests of one trace: two roots here
            span = tracer.start_span("handle", context, attributes=tool(name))
            tracer.start_span("in it", below(span), attributes=tool(f"in {name}")).end()
            span.end()
            (trajectory,) = exporter.trajectories
    assert trajectory.trace_id == f"{0xABC:032x}"
    assert names(trajectory) == ["first", "in first", "second", "in second"]
    assert trajectory.missing_parents == (f"{0xDEF:016x}",)


def test_concurrent_traces_do_not_mix() -> None:
    got: list[Trajectory] = []
    exporter = TrajectoryExporter(got.append)

    def work(tracer: Tracer, number: int) -> None:
        for turn in range(20):
            with tracer.start_as_current_span("a", attributes=tool(f"{number}.{turn}")) as span:
                tracer.start_span("b", below(span), attributes=tool(f"in {number}.{turn}")).end()

    with traced(exporter) as tracer:
        threads = [threading.Thread(target=work, args=(tracer, n)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert exporter.failures == 0
    assert sorted(tuple(names(t)) for t in got) == sorted(
        (f"{n}.{turn}", f"in {n}.{turn}") for n in range(8) for turn in range(20)
    )


def test_what_the_callback_raises_is_logged_and_the_program_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_: Trajectory) -> None:
        raise RuntimeError("boom")

    exporter = TrajectoryExporter(broken)
    with traced(exporter) as tracer:
        two_nested_tools(tracer)
        two_nested_tools(tracer)
    assert exporter.failures == 2
    assert len(exporter.trajectories) == 2
    assert [r.levelno for r in caplog.records] == [logging.ERROR] * 2
    assert "boom" in caplog.text


def test_a_flush_says_whether_all_went_well() -> None:
    exporter = TrajectoryExporter(lambda t: 1 / len(t.orphans or ()))
    inner, outer = recorded(two_nested_tools)
    exporter.export([inner])
    assert exporter.force_flush() is True
    assert exporter.force_flush() is True  # nothing grew
    exporter.export([outer])
    assert (exporter.failures, len(exporter.trajectories)) == (1, 1)
    exporter.shutdown()


def test_a_convention_that_crashes_costs_one_trace(caplog: pytest.LogCaptureFixture) -> None:
    reader = Reader()

    def read(span: OurSpan) -> Reading:
        if span.attributes["gen_ai.tool.name"] == "bad":
            raise ValueError("no")
        return reader(span)

    exporter = TrajectoryExporter(read=read)
    with traced(exporter) as tracer:
        for name in ("good", "bad", "fine"):
            tracer.start_span("x", attributes=tool(name)).end()
    assert [names(t) for t in exporter.trajectories] == [["good"], ["fine"]]
    assert exporter.failures == 1
    assert len(caplog.records) == 1


@pytest.mark.parametrize("batch", [False, True])
def test_spans_the_callback_records_start_no_new_traces(batch: bool) -> None:
    calls = 0

    def judge(_: Trajectory) -> None:
        nonlocal calls
        calls += 1
        two_nested_tools(tracer)

    exporter = TrajectoryExporter(judge)
    with traced(exporter, batch=batch) as tracer:
        two_nested_tools(tracer)
    assert calls == 1


def test_spans_of_the_callback_cannot_make_an_endless_loop_under_any_sampler() -> None:
    def judge(_: Trajectory) -> None:
        two_nested_tools(tracer)

    exporter = TrajectoryExporter(judge)
    provider = TracerProvider(sampler=ALWAYS_ON)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = provider.get_tracer("test")
    two_nested_tools(tracer)
    assert len(exporter.trajectories) == 1
    provider.shutdown()


def test_memory_is_bounded_and_what_had_to_leave_is_given(caplog: pytest.LogCaptureFixture) -> None:
    got: list[Trajectory] = []
    exporter = TrajectoryExporter(got.append, max_megabytes=0.02)
    opened = [recorded(two_nested_tools)[0] for _ in range(100)]
    for span in opened:
        exporter.export([span])
    assert exporter.evicted == len(got) > 80
    assert "max_megabytes" in caplog.text
    exporter.shutdown()
    # Oldest first, and nothing lost.
    assert [t.trace_id for t in got] == [to_span(s).trace_id for s in opened]


def test_long_texts_weigh() -> None:
    exporter = TrajectoryExporter(max_megabytes=0.1)

    def long(tracer: Tracer) -> None:
        with tracer.start_as_current_span("a", attributes=tool("x")):
            tracer.start_span("b", attributes={"text": "x" * 200_000}).end()

    exporter.export(recorded(long)[:1])
    assert exporter.evicted == 1
    exporter.shutdown()


def test_only_the_latest_trajectories_are_kept() -> None:
    got: list[Trajectory] = []
    exporter = TrajectoryExporter(got.append, keep=2)
    with traced(exporter) as tracer:
        for name in "abc":
            tracer.start_span(name, attributes=tool(name)).end()
    assert [names(t) for t in exporter.trajectories] == [["b"], ["c"]]
    exporter.clear()
    assert exporter.trajectories == ()
    assert len(got) == 3


def test_after_shutdown_nothing_is_taken_in() -> None:
    exporter = TrajectoryExporter()
    spans = recorded(two_nested_tools)
    exporter.export(spans[:1])
    exporter.shutdown()
    exporter.shutdown()
    assert exporter.export(spans) is SpanExportResult.FAILURE
    assert len(exporter.trajectories) == 1


@pytest.mark.parametrize("name", ["settle_seconds", "quiet_seconds", "max_megabytes", "keep"])
def test_a_negative_figure_is_refused(name: str) -> None:
    for figure in (-1, float("nan")):
        arguments: dict[str, Any] = {name: figure}
        with pytest.raises(UsageError, match=name):
            TrajectoryExporter(**arguments)


def test_the_package_imports_the_sdk_only_when_it_is_used() -> None:
    assert "trajscope.telemetry" in sys.modules
    import trajscope

    assert trajscope.TrajectoryExporter is TrajectoryExporter
