"""OTLP/JSON: export requests, the Collector's file exporter, stored traces of Tempo.

One thing a newcomer would get wrong: a file may mix signals. Lines of metrics are counted and
passed over; they are no problem.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from trajscope.errors import Problems
from trajscope.formats._documents import is_text, iter_documents
from trajscope.formats._parts import line_cuts
from trajscope.model.span import LogRecord, Span
from trajscope.otlp import (
    Envelope,
    Report,
    decode_envelope,
    records_from_json,
    spans_from_envelope,
)
from trajscope.ports import Source

_OWN = re.compile(
    rb'"(?:resourceSpans|resource_spans|resourceLogs|resource_logs|resourceMetrics|resource_metrics'
    rb'|scopeSpans|scope_spans|instrumentationLibrarySpans|instrumentation_library_spans)"\s*:'
)
_BATCHES = re.compile(rb'"batches"\s*:\s*\[')


class OtlpJson:
    """The format."""

    name = "otlp-json"
    description = (
        "OTLP/JSON: one object, JSON lines (the Collector's file exporter), an array or objects "
        "one after the other; camelCase or proto names, hex or base64 ids."
    )

    def sniff(self, source: Source) -> int:
        """Return 3 for names only OTLP has, 2 for a `batches` array, else 0."""
        if not is_text(source.head):
            return 0
        if _OWN.search(source.head):
            return 3
        return 2 if _BATCHES.search(source.head) else 0

    def cuts(self, file: BinaryIO, head: bytes, size: int) -> Iterator[int]:  # noqa: ARG002
        """Yield the starts of lines: most captures hold one document a line."""
        return line_cuts(file, size)

    def read(self, source: Source, problems: Problems) -> Iterator[Span | LogRecord]:
        """Yield the spans and log records of every document."""
        for document in iter_documents(source, problems, decode_envelope):
            report = Report(problems, document.at)
            if isinstance(document.value, Envelope):
                yield from spans_from_envelope(document.value, report)
            else:
                yield from records_from_json(document.text, report)


FORMAT = OtlpJson()
