"""Why a span became what it is: claims, sources of fields, reasons of noise, evidence of failure.

One thing a newcomer would get wrong: this repeats no decision. It shows what the conventions
claimed, what the reading says of itself, and what RESOLVE noted; only the attributes a convention
looked at are found by watching it read the span once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from trajscope.assemble import Assembled, OutlineRow
from trajscope.conventions import Reader
from trajscope.errors import SpanError
from trajscope.evidence import failure_of_span
from trajscope.model.reading import Reading
from trajscope.model.repair import Repair
from trajscope.model.span import Span
from trajscope.ports import Convention

_BREADTHS = {
    0: "general conventions",
    10: "an instrumentation's own vocabulary",
    20: "one framework inside a vocabulary",
    30: "what its author marks as no operation",
    100: "the mapping file of the user",
}
_KNOWN = {
    1: "the kind is known",
    2: "kind and name are known",
    3: "kind, name and arguments or usage are known",
}


class Claim(NamedTuple):
    """What one convention claimed of a span; `won` for the one that read it."""

    convention: str
    claim: int
    why: str
    won: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why one span, or one requested call, became what it is.

    row: what it became. claims: highest first; empty for a requested call, which no convention
    reads. sources: field -> the attribute or rule that gave it. looked_at: attributes the
    convention asked for that gave no field (what tells the type, mostly). unused: attributes
    nobody asked for. evidence: what said that the call failed, or did not.
    """

    row: OutlineRow
    claims: tuple[Claim, ...]
    sources: dict[str, str]
    looked_at: tuple[str, ...]
    unused: tuple[str, ...]
    evidence: str
    repairs: tuple[Repair, ...]


class ExplainedTrace(NamedTuple):
    """The explanations of one trace, in walking order."""

    trace_id: str
    spans: list[Explanation]


def explain(
    found: Iterable[Assembled], read: Reader, span_id: str | None = None
) -> list[ExplainedTrace]:
    """Return an explanation of every span, or of the one with `span_id`, trace by trace.

    Raises:
        SpanError: no span has the id.
    """
    traces = []
    for assembled in found:
        rows = assembled.outline()
        chosen = [r for r in rows if span_id is None or r.span.span_id == span_id]
        if chosen:
            repairs: dict[str, list[Repair]] = {}
            for repair in assembled.trajectory.repairs:
                repairs.setdefault(repair.span_id, []).append(repair)
            spans = [_explained(r, read, repairs.get(r.span.span_id, ())) for r in chosen]
            traces.append(ExplainedTrace(rows[0].span.trace_id, spans))
    if span_id is not None and not traces:
        raise SpanError(
            f"no span {span_id!r:.80} in these traces",
            hint="trajscope explain without a span id shows every span with its id",
        )
    return traces


def _explained(row: OutlineRow, read: Reader, repairs: Sequence[Repair]) -> Explanation:
    evidence = _evidence(row)
    if row.requested:  # the span is the model call's, and is explained by itself
        return Explanation(row, (), _sources_of_request(row), (), (), evidence, ())
    claims = read.claims(row.span)
    winner = row.reading.convention
    reader = next((c for _, c in claims if c.name == winner), None)
    sources = _sources(row.reading, row.span)
    used = {a for source in sources.values() for a in _attributes_of(source, row.span)}
    seen = used if reader is None else used | _looked_at(reader, row.span)
    return Explanation(
        row,
        tuple(Claim(c.name, claim, _why(claim), c.name == winner) for claim, c in claims),
        sources,
        tuple(sorted(seen - used)),
        tuple(sorted(row.span.attributes.keys() - seen)),
        evidence,
        tuple(repairs),
    )


def _why(claim: int) -> str:
    """Say a claim in words; an unusual one of a plug-in stays a number.

    >>> _why(13)
    "an instrumentation's own vocabulary; kind, name and arguments or usage are known"
    """
    breadth = next((b for b in sorted(_BREADTHS, reverse=True) if b <= claim), 0)
    words = (_BREADTHS[breadth], _KNOWN.get(claim - breadth))
    return "; ".join(word for word in words if word)


def _sources(reading: Reading, span: Span) -> dict[str, str]:
    """The sources a reading states, and the label where it must be what gave the name."""
    if reading.name and "name" not in reading.sources and reading.step_type is not None:
        if reading.name == reading.agent_name and "agent_name" in reading.sources:
            return dict(reading.sources)
        if reading.name == reading.model and "model" in reading.sources:
            return dict(reading.sources)
        if reading.name in span.name:
            return {"name": "span name", **reading.sources}
    return dict(reading.sources)


def _sources_of_request(row: OutlineRow) -> dict[str, str]:
    """The source of a requested call: the messages in which the model asked for it."""
    said = row.reading.sources.get("requests", "messages of the model call")
    return {"name": said, "args": said}


def _attributes_of(source: str, span: Span) -> list[str]:
    """The attributes a source stands for: itself, all behind a prefix, or the one it lies in."""
    if source in span.attributes:
        return [source]
    if source.endswith("*"):
        return [name for name in span.attributes if name.startswith(source[:-1])]
    inside = [n for n in span.attributes if source.startswith((f"{n} ", f"{n}.", f"{n}["))]
    return [max(inside, key=len)] if inside else []


class _Watched(dict[str, Any]):
    """Attributes that remember which of them were asked for by name."""

    def __init__(self, attributes: dict[str, Any]) -> None:
        super().__init__(attributes)
        self.asked: set[str] = set()

    def __contains__(self, name: object) -> bool:
        found = super().__contains__(name)
        if found and isinstance(name, str):
            self.asked.add(name)
        return found

    def __getitem__(self, name: str) -> Any:
        value = super().__getitem__(name)
        self.asked.add(name)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        _ = name in self  # notes it
        return super().get(name, default)


def _looked_at(convention: Convention, span: Span) -> set[str]:
    watched = _Watched(span.attributes)
    view = msgspec.structs.replace(span, attributes=watched)
    convention.claim(view)
    convention.read(view)
    return watched.asked


def _evidence(row: OutlineRow) -> str:
    """What said that a call failed, that it did not, or why nobody knows."""
    noted = next((n for n in row.notes if n.startswith(("failed: ", "ok: "))), None)
    if noted is not None:
        return noted.partition(": ")[2]
    if row.requested:
        return "no message answers the call and no span records it"
    if said := row.reading.sources.get("failed"):
        return said
    if row.failed:
        again = failure_of_span(row.span, row.reading.result)
        return again.evidence if again.failed and again.evidence else "its convention says so"
    if not row.span.ended:
        return "the span never ended"
    if row.failed is False:
        return "the span ended and nothing says that it failed"
    return "this instrumentation never says how it ended" if row.reading.is_silent else "none"
