"""Stored scores and findings on their way to a backend: what is sent, once, and what is left.

One thing a newcomer would get wrong: only what a backend confirmed is noted, batch by batch. What
it did not confirm stays to be sent the next time, so a backend that is down loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from trajscope.errors import SpanError
from trajscope.pipeline.evaluations import Evaluation, evaluation_of
from trajscope.store import Store

MAX_BATCH_EVENTS = 100
"""Events of one request; Langfuse takes no more."""
MAX_BATCH_BYTES = 1_000_000
"""Of one request, about: gRPC receivers refuse messages of more than 4 MiB by default."""
_TRACES_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of one batch.

    confirmed: the backend took it. refused: how many of it the backend threw away for good, which
    must not be sent again. failure, hint: what went wrong. is_down: others would fare no better.
    """

    confirmed: bool
    refused: int = 0
    failure: str | None = None
    hint: str | None = None
    is_down: bool = False


class Sender(Protocol):
    """A way to a backend."""

    @property
    def target(self) -> str:
        """What the backend is remembered by; never a secret."""

    def send(self, batch: Sequence[Evaluation]) -> Delivery:
        """Send one batch, with retries; return what became of it."""


@dataclass(slots=True)
class Exported:
    """What an export did, in events.

    known: confirmed by the backend earlier. refused: thrown away by the backend. left: not
    confirmed, to be sent the next time. failure, hint: the first thing that went wrong.
    """

    sent: int = 0
    known: int = 0
    refused: int = 0
    left: int = 0
    failure: str | None = None
    hint: str | None = None

    @property
    def complete(self) -> bool:
        """Whether the backend has everything."""
        return not self.left and not self.refused


Progress = Callable[[int, int], None]
"""Called with the number of traces that are done, and of all."""


def export(
    store: Store,
    sender: Sender,
    trace_ids: Sequence[str] | None = None,
    progress: Progress = lambda _done, _all: None,
) -> Exported:
    """Send what the backend has not confirmed yet of some traces, or of all.

    After a batch that failed because the backend is down, the rest is counted and not tried.

    Raises:
        SpanError: an id that was asked for is not stored.
        StoreError: the store cannot be read or written.
    """
    done = Exported()
    is_down = False
    for batch in _batches(pending(store, sender.target, trace_ids, done, progress)):
        if is_down:
            done.left += len(batch)
            continue
        delivery = sender.send(batch)
        if delivery.confirmed:
            store.save_exports(sender.target, [evaluation.key for evaluation in batch])
            done.sent += len(batch) - delivery.refused
            done.refused += delivery.refused
        else:
            done.left += len(batch)
        if done.failure is None and delivery.failure is not None:
            done.failure, done.hint = delivery.failure, delivery.hint
        is_down = delivery.is_down
    return done


def pending(
    store: Store,
    target: str,
    trace_ids: Sequence[str] | None = None,
    done: Exported | None = None,
    progress: Progress = lambda _done, _all: None,
) -> Iterator[Evaluation]:
    """Yield what the target has not confirmed, each once; what it has is counted in `done.known`.

    Raises:
        SpanError: an id that was asked for is not stored.
    """
    done = Exported() if done is None else done
    ids = _known_ids(store, trace_ids)
    starts = range(0, len(ids), _TRACES_AT_ONCE)
    parts: list[list[str] | None] = [ids[at : at + _TRACES_AT_ONCE] for at in starts]
    if trace_ids is None:
        parts.append(None)  # what is of no single trace
    finished = 0
    for part in parts:
        said = {
            evaluation.key: evaluation for evaluation in map(evaluation_of, store.to_tell(part))
        }
        known = store.known_exports(target, list(said))
        done.known += len(known)
        yield from (evaluation for key, evaluation in said.items() if key not in known)
        finished += len(part or ())
        progress(finished, len(ids))


def _known_ids(store: Store, trace_ids: Sequence[str] | None) -> list[str]:
    known = store.trace_ids(trace_ids)
    missing = set(trace_ids or ()).difference(known)
    if missing:
        raise SpanError(
            f"no trace {min(missing)!r:.80} in the store", hint="trajscope list shows the ids"
        )
    return known


def _batches(evaluations: Iterator[Evaluation]) -> Iterator[list[Evaluation]]:
    """Yield them in lists no larger than a backend takes at once."""
    batch: list[Evaluation] = []
    size = 0
    for evaluation in evaluations:
        more = evaluation.size()
        if batch and (len(batch) == MAX_BATCH_EVENTS or size + more > MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(evaluation)
        size += more
    if batch:
        yield batch
