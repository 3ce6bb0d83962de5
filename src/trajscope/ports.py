"""The protocols plug-ins keep: Format, Convention, Scorer, Judge. A new one is one new file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import BinaryIO, Protocol, runtime_checkable

from trajscope.errors import Problems
from trajscope.model.expectation import TrajectoryExpectation
from trajscope.model.judge import JudgeReply, JudgeRequest
from trajscope.model.reading import Reading
from trajscope.model.score import Score
from trajscope.model.span import LogRecord, Span
from trajscope.model.trajectory import Trajectory


class Source(Protocol):
    """The bytes of one capture, decompressed as they are read.

    name: the path as the user gave it, for messages. head: the first bytes (64 KiB at most).
    """

    @property
    def name(self) -> str:
        """Path or "-"."""

    @property
    def head(self) -> bytes:
        """The first bytes, decompressed."""

    def open(self) -> BinaryIO:
        """Return the whole decompressed stream, from its start."""


class Format(Protocol):
    """How a capture is encoded.

    `sniff` says how surely these bytes are of this format (0 not at all, 1 possible, 2 its outer
    shape, 3 names that only it has); it never raises. `read` yields records in file order,
    streaming, and reports what it cannot read to `problems`.
    """

    @property
    def name(self) -> str:
        """The unique name (`otlp-json`)."""

    @property
    def description(self) -> str:
        """One sentence for `--help` and docs."""

    def sniff(self, source: Source) -> int:
        """Return 0 to 3."""

    def read(self, source: Source, problems: Problems) -> Iterator[Span | LogRecord]:
        """Yield the records of the capture."""


class Convention(Protocol):
    """A vocabulary of span attributes.

    `claim` says how specifically it understands the span: 0 not; in the tens the breadth of the
    vocabulary (0 general semantic conventions, 10 an instrumentation's own vocabulary, 20 one
    framework inside such a vocabulary, 30 what its author marks as no operation at all), in the
    ones 1 kind known, 2 and names, 3 and arguments or usage. The highest claim reads the span.
    Two equal claims on one span are a defect.
    """

    @property
    def name(self) -> str:
        """The unique name (`openinference`)."""

    @property
    def description(self) -> str:
        """One sentence for docs and `explain`."""

    def claim(self, span: Span) -> int:
        """Return the claim on the span; cheap, called for every span."""

    def read(self, span: Span) -> Reading:
        """Return what the span is; called only for spans it claims highest."""


@runtime_checkable
class Hinting(Convention, Protocol):
    """A convention that knows what to switch on to get evidence its spans mostly lack.

    Optional beside `Convention`; `doctor` shows a hint only where that evidence is missing.
    """

    @property
    def hints(self) -> Mapping[str, str]:
        """By what is missing (`content`, `outcomes`, `tokens`, `model_calls`): what to do."""


@runtime_checkable
class LogConvention(Convention, Protocol):
    """A convention of a program whose log records say what its spans do not, or not all.

    Optional beside `Convention`: a convention that has `span_of_log` is asked for every record.
    """

    def span_of_log(self, record: LogRecord) -> Span | None:
        """Return the span this record stands for when no span records it; None for most records.

        The span depends on the record alone (its id too, so the same record gives the same span).
        Its trace id groups records of one run where they name no trace of the capture.
        """


@runtime_checkable
class LogReader(Protocol):
    """A reader of spans that also knows which log records stand for spans."""

    def __call__(self, span: Span) -> Reading:
        """Return the reading of the span."""

    def span_of_log(self, record: LogRecord) -> Span | None:
        """Return the span the record stands for; see `LogConvention`."""


class Scorer(Protocol):
    """Judges one trajectory against one expectation."""

    @property
    def name(self) -> str:
        """The unique name (`blacklist`)."""

    @property
    def description(self) -> str:
        """One sentence for `--help` and docs."""

    def applies(self, expectation: TrajectoryExpectation) -> bool:
        """Whether the expectation says anything this scorer checks."""

    def score(self, trajectory: Trajectory, expectation: TrajectoryExpectation) -> Score:
        """Return the score; a value of None with a reason where it cannot be evaluated."""


class Judge(Protocol):
    """A model that is asked for a verdict."""

    @property
    def model_id(self) -> str:
        """The model's name, without its provider (`gpt-5`)."""

    @property
    def provider(self) -> str | None:
        """Who serves the model (`openai`)."""

    async def ask(self, request: JudgeRequest) -> JudgeReply:
        """Put one question.

        Raises:
            JudgeError: no usable reply came: a broken format twice, a refusal, a time-out, ….
        """


class JudgeResolver(Protocol):
    """Makes a judge from a model's name; `trajscope.judges.resolve_judge` is the one there is.

    Steps name it and never import it, since it lies above them. It is asked once per question, so
    it is cheap, and what it keeps between calls does not belong to one event loop.
    """

    def __call__(self, model: str, /) -> Judge:
        """Return the judge.

        Raises:
            UsageError: the model is unknown, its library or its key is missing.
        """
