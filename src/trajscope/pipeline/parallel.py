"""Large captures read on all cores: worker processes decode, classify and flatten them by parts.

One thing a newcomer would get wrong: the parts come back in the order of the file, whichever worker
was first, so what is stored does not depend on who was fast. A part that cannot stand alone (a
document over several lines, a cut line) sends the rest of the capture down the single stream.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import pyarrow as pa

from trajscope.errors import Location, Problem, Problems, StoreError, TrajscopeError
from trajscope.formats import Divisible, FilePart, FileSource, formats, parts_of, read_part
from trajscope.pipeline.ahead import LARGE_BYTES, OF_READERS, worker_context
from trajscope.pipeline.dropping import Dropper
from trajscope.pipeline.load import InputOptions
from trajscope.pipeline.taking import Taker
from trajscope.ports import Format
from trajscope.store import SPAN_SCHEMA, capture_batches

WORTH_BYTES = 8 * 1024**2
"""Once workers run, a capture from here on is given to them."""


class PartDone(NamedTuple):
    """What a worker made of one part; `odd` when it cannot stand alone, and then nothing else."""

    batches: list[tuple[pa.Schema, bytes]]
    spans: int
    lines: int
    problems: Problems
    odd: bool = False


class _Settings(NamedTuple):
    """What a worker must know of how captures are read."""

    map_file: str | None
    drop_attributes: tuple[str, ...]


_of_worker: list[Taker] = []
"""What this process takes records with, if it is a worker."""


class Workers:
    """Worker processes, started when the first capture is worth it; ended with the context.

    Those of a large capture end when it is read, since they hold memory that deriving its steps
    needs; the server that they are forked from stays, so that the next ones are there at once.
    """

    def __init__(self, options: InputOptions, jobs: int) -> None:
        self._options = options
        self._jobs = jobs
        self._pool: ProcessPoolExecutor | None = None
        self._least = LARGE_BYTES
        self._serves = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end()

    def _end(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def takes(self, source: FileSource, format_: Format) -> Path | None:
        """Return the file to read in parts, None if the capture is better read in one stream."""
        if self._jobs < 2 or not isinstance(format_, Divisible):
            return None
        path, state = source.plain_file(), source.state()
        return path if state is not None and state.size >= self._least else None

    def batches(
        self,
        source: FileSource,
        path: Path,
        format_: Format,
        problems: Problems,
        progress: Callable[[str, int, float | None], None],
    ) -> Iterator[pa.RecordBatch]:
        """Yield a capture as Arrow batches, in its order.

        Raises:
            InputError: as `formats.read_capture`; or the file is gone.
            StoreError: a worker was killed.
        """
        state = source.state()
        size = state.size if state else 0
        spans = lines = 0
        for part, future in self._ahead(
            parts_of(format_, source.name, path, source.head), format_, source.name
        ):
            done = self._result(future, source.name)
            part.before = lines
            if done.odd or _too_strict(done, problems):
                yield from self._in_one_stream(format_, part.onward(), problems)
                break
            _take(done, problems, lines)
            lines += done.lines
            spans += done.spans
            progress(source.name, spans, None if part.stop is None else part.stop / size)
            for schema, data in done.batches:
                yield pa.ipc.read_record_batch(pa.py_buffer(data), schema)
        if size >= LARGE_BYTES:
            self._end()

    def _ahead(
        self, parts: Iterator[FilePart], format_: Format, name: str
    ) -> Iterator[tuple[FilePart, Future[PartDone]]]:
        """Yield the parts with their results to come, a few ahead of the one that is waited for."""
        pool = self._started()
        waiting: deque[tuple[FilePart, Future[PartDone]]] = deque()
        try:
            for part in parts:
                waiting.append((part, pool.submit(_read, format_.name, part)))
                if len(waiting) > self._jobs + 1:
                    yield waiting.popleft()
            while waiting:
                yield waiting.popleft()
        except BrokenProcessPool as error:
            raise self._killed(name) from error
        finally:
            for _, future in waiting:
                future.cancel()

    def _result(self, future: Future[PartDone], name: str) -> PartDone:
        try:
            done = future.result()
        except BrokenProcessPool as error:
            raise self._killed(name) from error
        self._serves = True
        return done

    def _killed(self, name: str) -> StoreError:
        hint = "the store is as it was; if memory is short, run it again with --jobs 1"
        if not self._serves:  # the usual reason in a script: each worker runs the script again
            hint += '; a script of your own needs: if __name__ == "__main__":'
        return StoreError(
            "a worker process was killed while it read the capture", at=Location(name), hint=hint
        )

    def _in_one_stream(
        self, format_: Format, part: FilePart, problems: Problems
    ) -> Iterator[pa.RecordBatch]:
        take = _taker(_settings(self._options))
        yield from capture_batches(map(take, read_part(format_, part, problems)))

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            settings = _settings(self._options)
            self._least = WORTH_BYTES
            self._pool = ProcessPoolExecutor(
                self._jobs, worker_context(OF_READERS), _begin, (settings,)
            )
        return self._pool


def _settings(options: InputOptions) -> _Settings:
    return _Settings(options.map_file, options.drop_attributes)


def _too_strict(done: PartDone, problems: Problems) -> bool:
    """Whether a problem must be raised: the single stream then meets it again, in its place."""
    return problems.strict and done.problems.count > 0


def _take(done: PartDone, problems: Problems, lines: int) -> None:
    """Add the problems of a part, their lines counted from the start of the capture."""
    problems.count += done.problems.count
    room = problems.keep - len(problems.items)
    problems.items += [_moved(problem, lines) for problem in done.problems.items[:room]]
    for kind, count in done.problems.skipped.items():
        problems.skip(kind, count)


def _moved(problem: Problem, lines: int) -> Problem:
    at = problem.at
    if at is None or at.line is None:
        return problem
    return replace(problem, at=replace(at, line=at.line + lines))


def _begin(settings: _Settings) -> None:
    """Make this process a worker: it ends with its parent, which alone listens to Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _of_worker[:] = [_taker(settings)]
    gc.freeze()
    # Decoded JSON has no cycles, so counting references frees it; what an error leaves is little.
    gc.set_threshold(1_000_000, 10, 1_000)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _taker(settings: _Settings) -> Taker:
    options = InputOptions(map_file=settings.map_file, drop_attributes=settings.drop_attributes)
    return Taker(options.reader(), Dropper(options.drop_attributes))


def _read(format_name: str, part: FilePart) -> PartDone:
    """Read one part; runs in a worker."""
    problems = Problems()
    [take] = _of_worker
    try:
        format_ = formats()[format_name]
        made = [*capture_batches(map(take, read_part(format_, part, problems)))]
    except TrajscopeError:  # met again in the single stream, and raised from there
        return PartDone([], 0, 0, problems, odd=True)
    spans = sum(batch.num_rows for batch in made if batch.schema.equals(SPAN_SCHEMA))
    data = [(batch.schema, batch.serialize().to_pybytes()) for batch in made]
    made.clear()
    pa.default_memory_pool().release_unused()  # or it keeps what its largest part took
    return PartDone(data, spans, part.given, problems, odd=part.odd)
