"""How `run_evals` runs: each item through the target, then through every scorer, some at a time.

One thing a newcomer would get wrong: a target or a scorer that raises ends its own item or score
and nothing else; it is in the result with its error. Under compat the first one ends the run, as
in the reference.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from reprlib import repr as shown
from typing import Any

from trajscope.errors import UsageError
from trajscope.evals.data import (
    Graded,
    Item,
    Named,
    read_gates,
    read_items,
    read_scorers,
    refuse_repeats,
)
from trajscope.evals.error import cause_text
from trajscope.evals.evaluated import EvalsResult
from trajscope.evals.material import Material, TargetReply, Traces
from trajscope.evals.outcome import ItemResult, ItemScore, summarise
from trajscope.evals.scorer import Compat, check_compat

Target = Callable[..., Any]
"""An agent: called with the input, and with a `TargetCall` if it takes a second argument."""

Progress = Callable[[int, int, ItemResult], None]
"""Called after each item with how many are done, how many there are, and the item."""


@dataclass(frozen=True, slots=True)
class TargetCall:
    """What a target may know of the call it is asked to make.

    item: the item as it was given. turn: which input of it, from 0. earlier: what the target gave
    for the inputs before, for agents that keep no conversation themselves.
    """

    item: Mapping[str, Any]
    index: int
    turn: int
    earlier: tuple[TargetReply, ...]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What is to be done: see `prepare`. traces: None while there is no store to look into."""

    items: Sequence[Item]
    graded: Sequence[Graded]
    target: Target | None
    traces: Traces | None
    compat: Compat | None

    def trace_ids(self) -> list[str]:
        """Return the recorded traces the items name, each once, in order."""
        named = (item.given.get("trace_id") for item in self.items)
        return list(dict.fromkeys(trace_id for trace_id in named if trace_id is not None))


def prepare(
    data: Any,
    *,
    target: Target | None,
    scorers: Any,
    gates: Any,
    named: Named,
    compat: Compat | None,
) -> Evaluation:
    """Check everything before anything is run.

    Raises:
        UsageError: the data, a scorer, a gate or a threshold is malformed, or there is no scorer.
    """
    check_compat(compat)
    if target is not None and not callable(target):
        raise UsageError(f"target: is no function (got {shown(target)}); a function was expected")
    items = read_items(data, runs=target is not None, compat=compat, named=named)
    own = () if scorers is None else read_scorers(scorers, "scorers", named)
    graded = refuse_repeats((*read_gates(gates, "gates", named), *own), "scorers", compat)
    if not graded and not any(turn.graded for item in items for turn in item.turns):
        raise UsageError("scorers: there are none; at least one scorer or gate was expected")
    return Evaluation(items, graded, target, None, compat)


async def evaluate(
    evaluation: Evaluation, *, concurrency: int, progress: Progress | None
) -> EvalsResult:
    """Run every item and return what was said of them, in the order of the data.

    Raises:
        UsageError: the concurrency is no positive number; under compat, a target or scorer failed.
    """
    if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:
        raise UsageError(
            f"concurrency: is {shown(concurrency)}; how many items run at a time was expected"
        )
    items, done = iter(evaluation.items), dict[int, ItemResult]()

    async def work() -> None:
        for item in items:
            done[item.index] = result = await _run_item(evaluation, item)
            if progress is not None:
                progress(len(done), len(evaluation.items), result)

    workers = [
        asyncio.ensure_future(work()) for _ in range(min(concurrency, len(evaluation.items)))
    ]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    return _result(evaluation, [done[item.index] for item in evaluation.items])


async def _run_item(evaluation: Evaluation, item: Item) -> ItemResult:
    place = f"data[{item.index}]"
    replies: list[TargetReply] = []
    scores: list[ItemScore] = []
    start = time.monotonic_ns()
    error: Exception | None = None
    for turn in range(len(item.turns)):
        reply = await _reply(evaluation, item, turn, tuple(replies))
        if isinstance(reply, Exception):
            if evaluation.compat is not None:
                raise UsageError(f"{place}: the target failed: {cause_text(reply)}") from reply
            error = reply
            break
        replies.append(reply)
    took_ms = (time.monotonic_ns() - start) // 1_000_000
    for turn, asked in enumerate(item.turns):
        part = None if turn >= len(replies) else _material(evaluation, item, replies, turn)
        scores += [await _score(evaluation, one, part, error, turn) for one in asked.graded]
    whole = None if error is not None else _material(evaluation, item, replies)
    scores += [await _score(evaluation, one, whole, error, None) for one in evaluation.graded]
    return ItemResult(
        item.index,
        whole.output if whole is not None else None,
        tuple(scores),
        trace_id=whole.trace_id if whole is not None else None,
        trajectory_from=whole.trajectory_from if whole is not None else None,
        notes=tuple(whole.notes) if whole is not None else (),
        duration_ms=None if item.is_recorded else took_ms,
        error=error,
    )


def _material(
    evaluation: Evaluation, item: Item, replies: Sequence[TargetReply], turn: int | None = None
) -> Material:
    chosen = slice(None) if turn is None else slice(turn, turn + 1)
    inputs = [asked.input for asked in item.turns]
    place = f"data[{item.index}]" + ("" if turn is None else f".turns[{turn}]")
    return Material(
        place, item, replies[chosen], inputs[chosen], evaluation.traces, evaluation.compat
    )


async def _reply(
    evaluation: Evaluation, item: Item, turn: int, earlier: tuple[TargetReply, ...]
) -> TargetReply | Exception:
    """Return what is recorded, or what the target gives, or what it raised."""
    if item.is_recorded or evaluation.target is None:
        given = {
            key: item.given[key]
            for key in ("output", "trace_id", "trajectory")
            if key in item.given
        }
        return TargetReply(**given)
    call = TargetCall(item.given, item.index, turn, earlier)
    try:
        found = await _called(evaluation.target, item.turns[turn].input, call)
    except Exception as error:
        return error
    return found if isinstance(found, TargetReply) else TargetReply(found)


async def _called(target: Target, value: Any, call: TargetCall) -> Any:
    """Call the target; one that is no coroutine function runs in a thread, beside the others."""
    arguments = (value, call) if _takes_call(target) else (value,)
    if inspect.iscoroutinefunction(target) or inspect.iscoroutinefunction(
        getattr(target, "__call__", None)  # noqa: B004 - the method is asked, not whether it is
    ):
        return await target(*arguments)

    def caught() -> Any:
        # A StopIteration cannot be set on a future; what is raised comes back as a value.
        try:
            return target(*arguments)
        except Exception as error:
            return _Raised(error)

    found = await asyncio.to_thread(caught)
    if isinstance(found, _Raised):
        raise found.error
    return await found if inspect.isawaitable(found) else found


@dataclass(frozen=True, slots=True)
class _Raised:
    error: Exception


def _takes_call(target: Target) -> bool:
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):  # a function of C that does not tell
        return False
    needed = [
        p
        for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty
    ]
    return len(needed) >= 2


async def _score(
    evaluation: Evaluation,
    graded: Graded,
    material: Material | None,
    error: Exception | None,
    turn: int | None,
) -> ItemScore:
    """Run one scorer; what it raises is its result. The boundary around scorers."""
    if material is None:
        return ItemScore(graded, "failed", turn=turn, error=error)
    try:
        result = await graded.scorer.run(material.members(graded))
    except Exception as raised:
        if evaluation.compat is not None and not graded.is_gate:
            raise UsageError(
                f"{material.place}, scorer {graded.scorer.id}: {cause_text(raised)}"
            ) from raised
        return ItemScore(graded, "failed", turn=turn, error=raised)
    if result.not_scorable is not None:
        reason = result.not_scorable.get("reason")
        return ItemScore(graded, "not_scorable", None, reason, turn, result)
    return ItemScore(graded, "scored", result.score, result.reason, turn, result)


def _result(evaluation: Evaluation, items: Sequence[ItemResult]) -> EvalsResult:
    by_turn: list[dict[tuple[Any, ...], tuple[Graded, list[ItemScore]]]] = []
    whole: dict[tuple[Any, ...], tuple[Graded, list[ItemScore]]] = {
        _key(graded): (graded, []) for graded in evaluation.graded
    }
    turns = max((len(i.turns) for i in evaluation.items if i.has_turns), default=0)
    by_turn = [{} for _ in range(turns)]
    for score in (score for item in items for score in item.scores):
        groups = whole if score.turn is None else by_turn[score.turn]
        groups.setdefault(_key(score.graded), (score.graded, []))[1].append(score)
    return EvalsResult(
        tuple(items),
        tuple(summarise(graded, scores) for graded, scores in whole.values()),
        tuple(
            tuple(summarise(graded, scores) for graded, scores in groups.values())
            for groups in by_turn
        ),
        evaluation.compat,
    )


def _key(graded: Graded) -> tuple[Any, ...]:
    return (graded.is_gate, graded.bucket, graded.scorer.id)
