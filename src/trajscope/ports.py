"""The protocols plug-ins keep: Format, Convention, Scorer, Rule, Judge. A new one is a new file."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Protocol, runtime_checkable

if TYPE_CHECKING:  # whoever reads spans need not load what scorers are told, and the reverse
    from collections.abc import Iterator, Mapping, Sequence

    from trajscope.errors import Problems
    from trajscope.model.check import Check
    from trajscope.model.expectation import TrajectoryExpectation
    from trajscope.model.judge import JudgeReply, JudgeRequest
    from trajscope.model.reading import Reading
    from trajscope.model.rule import Join, Matcher, ValuePath
    from trajscope.model.score import Score
    from trajscope.model.span import Json, LogRecord, Span
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


@runtime_checkable
class SetScorer(Scorer, Protocol):
    """A scorer with a second execution: many stored traces at once, with the same results.

    Optional beside `Scorer`, whose `score` is the definition. Only the store runs the statement.
    """

    @property
    def statement(self) -> str:
        """The file of `sql/` that scores set-wise, without its ending (`scorers/blacklist`)."""

    @property
    def not_asked(self) -> str:
        """The reason it gives when the expectation says nothing it checks."""


class RuleBody(Protocol):
    """What a policy file says of one rule, or a part of it, with readers for it.

    A reader that does not find what it reads notes the mistake with its place, and returns
    something of the right type; a kind need not look for mistakes of form. A key nobody asked for
    is a mistake too.
    """

    @property
    def value(self) -> Json:
        """The plain value."""

    def has(self, key: str) -> bool:
        """Whether a key stands in this mapping, or beside the kind."""

    def part(self, key: str) -> RuleBody:
        """Return what stands at a key; a mistake if there is none."""

    def items(self) -> Sequence[RuleBody]:
        """Return the elements of a list, `$list` names expanded; of another value, itself."""

    def elements(self) -> Sequence[RuleBody]:
        """Return the elements of a list as they stand, so that a `$list` is one of them."""

    def entries(self) -> Sequence[tuple[str, RuleBody]]:
        """Return the keys and parts of a mapping."""

    def fail(self, message: str, hint: str | None = None) -> None:
        """Note a mistake here."""

    def matcher(
        self, *, executed: bool | None = None, done: bool = False, failed: bool | None = None
    ) -> Matcher:
        """Return which steps are meant; the arguments are what holds if it says nothing else."""

    def matchers(
        self, *, executed: bool | None = None, done: bool = False, failed: bool | None = None
    ) -> tuple[Matcher, ...]:
        """Return the alternatives of a list, or the only one."""

    def source(
        self, *, executed: bool | None = None, done: bool = False
    ) -> tuple[Matcher, ValuePath]:
        """Return a step and a part of it (`read_inbox.result`)."""

    def choice(self, known: Sequence[str]) -> str:
        """Return one of several words."""

    def path(self) -> ValuePath:
        """Return where a value of a step lies (`args.id`)."""

    def patterns(self) -> tuple[str, ...]:
        """Return one or many names, globs or `re:` patterns."""

    def integer(self, minimum: int = 0) -> int:
        """Return a whole number; `50k` and `2M` are numbers too."""

    def duration_ns(self) -> int:
        """Return a duration (`90s`, `1h30m`) in nanoseconds."""

    def boolean(self) -> bool:
        """Return true or false."""

    def text(self) -> str:
        """Return a text that is not empty."""

    def joins(self, count: int) -> tuple[Join, ...]:
        """Return what `count` steps are joined by: paths, or two paths each where they differ."""

    def file(self, name: str) -> str:
        """Return the absolute path of a file named relative to the policy file."""


class Rule(Protocol):
    """A kind of audit rule: what stands under its name, and the checks it compiles to."""

    @property
    def name(self) -> str:
        """The key users write (`never_sequence`)."""

    @property
    def description(self) -> str:
        """One sentence for docs and `policy check`."""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other keys for the same, DECLARE's names among them."""

    @property
    def beside(self) -> tuple[str, ...]:
        """Names of other kinds that belong to this one where they stand beside it."""

    def compile(self, body: RuleBody, name: str) -> tuple[Check, ...]:
        """Return the checks; `name` is the key that was used, the name or an alias."""


class Queries(Protocol):
    """Runs the SQL of `sql` rules."""

    def findings(self, sql: str) -> Mapping[str, Sequence[tuple[tuple[str, ...], str]]]:
        """Return span ids and message of every row, by trace id; read-only, run once per text.

        Raises:
            QueryError: the query fails, or returns no column trace_id.
        """


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
