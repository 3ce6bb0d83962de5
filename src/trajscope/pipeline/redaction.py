"""Redaction files: what is secret beyond the defaults, and what is not.

One thing a newcomer would get wrong: a file *adds* to the defaults; `defaults: false` is what
switches them off.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ConfigDict, Field

from trajscope.documents import Document, read_document, validate
from trajscope.errors import UsageError
from trajscope.model.span import LogRecord, Span
from trajscope.model.value import Value
from trajscope.redact import (
    PERSONAL,
    SECRETS,
    KeyRules,
    Redactor,
    TextPattern,
    default_redactor,
    redact_log,
    redact_span,
)

if TYPE_CHECKING:
    from trajscope.pipeline.evaluations import Evaluation
    from trajscope.pipeline.exporting import Delivery, Sender
    from trajscope.pipeline.load import InputOptions


class RedactionFile(Value):
    """A redaction file.

    keys, keep_keys: names of keys that hold secrets, and that never do (`*`, `re:`). patterns: what
    is masked in texts, an RE2 expression by name; its last group, if any, is what is masked. keep:
    expressions of texts that are never masked. personal: also mask e-mail addresses and card
    numbers. defaults: false drops the built-in keys and patterns.
    """

    model_config = ConfigDict(extra="forbid")

    keys: tuple[str, ...] = ()
    keep_keys: tuple[str, ...] = ()
    patterns: dict[str, str] = Field(default_factory=dict)
    keep: tuple[str, ...] = ()
    personal: bool = False
    defaults: bool = True


def load_redactor(path: str | Path | None = None) -> Redactor:
    """Return the redactor of a file, or the default one (`TRAJSCOPE_REDACT` names a file).

    Raises:
        UsageError: the file cannot be read or something in it is wrong.
    """
    given = path or os.environ.get("TRAJSCOPE_REDACT")
    if not given:
        return default_redactor()
    document = read_document(given)
    rules = validate(RedactionFile, document, document.value)
    patterns = [*(SECRETS if rules.defaults else ()), *(PERSONAL if rules.personal else ())]
    patterns += [TextPattern(name, _grouped(text)) for name, text in rules.patterns.items()]
    _check(rules, document)
    keys = KeyRules(defaults=rules.defaults, more=rules.keys, keep=rules.keep_keys)
    return Redactor(keys=keys, patterns=patterns, keep=rules.keep)


def masked(
    records: Iterable[Span | LogRecord], options: InputOptions
) -> Iterator[Span | LogRecord]:
    """Yield records as they may be stored: secrets masked, if that was asked for.

    This comes before they are read by conventions, so that nothing derived holds a secret either.
    """
    redactor = options.redactor
    if redactor is None:
        yield from records
        return
    for record in records:
        if isinstance(record, Span):
            yield redact_span(record, redactor)
        else:
            yield redact_log(record, redactor)


def _grouped(expression: str) -> str:
    """Return an expression with a group around it when it has none of its own."""
    bare = expression.replace("\\(", "").replace("(?", "")
    return expression if "(" in bare else f"({expression})"


def _check(rules: RedactionFile, document: Document) -> None:
    """Compile every part alone, so that a mistake is told with its place."""
    parts: list[tuple[tuple[str | int, ...], Callable[[str], object], str]] = [
        (("patterns", name), _pattern, text) for name, text in rules.patterns.items()
    ]
    parts += [(("keep", n), _kept, text) for n, text in enumerate(rules.keep)]
    for field, texts in (("keys", rules.keys), ("keepKeys", rules.keep_keys)):
        parts += [((field, n), _key, text) for n, text in enumerate(texts)]
    for keys, build, text in parts:
        try:
            build(text)
        except UsageError as error:
            error.at = document.locate(keys)
            raise


def _pattern(text: str) -> Redactor:
    return Redactor(patterns=[TextPattern("", _grouped(text))])


def _kept(text: str) -> Redactor:
    return Redactor(patterns=(), keep=[text])


def _key(text: str) -> KeyRules:
    return KeyRules(more=[text])


class MaskingSender:
    """A way to a backend on which secrets are masked; what is remembered as sent stays the same."""

    def __init__(self, sender: Sender, redactor: Redactor) -> None:
        self._sender = sender
        self._redactor = redactor

    @property
    def target(self) -> str:
        """What the backend is remembered by."""
        return self._sender.target

    def send(self, batch: Sequence[Evaluation]) -> Delivery:
        """Send one batch, masked."""
        return self._sender.send([self._masked(evaluation) for evaluation in batch])

    def _masked(self, evaluation: Evaluation) -> Evaluation:
        said = evaluation.explanation
        return replace(
            evaluation,
            explanation=None if said is None else self._redactor.text(said),
            attributes=self._redactor.value(dict(evaluation.attributes)),
        )
