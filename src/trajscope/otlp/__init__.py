"""OTLP messages to spans and log records, shared by the formats and the receiver.

One thing a newcomer would get wrong: nothing here knows files. A document or message comes in as
bytes with a `Report` that says where it stood.
"""

from collections.abc import Iterator

from trajscope.model.span import LogRecord, Span
from trajscope.otlp._fields import refused, shown, to_id
from trajscope.otlp._json import records_from_json, spans_from_envelope
from trajscope.otlp._report import Report
from trajscope.otlp._typed import Envelope, decode_envelope

__all__ = [
    "Envelope",
    "Report",
    "decode_envelope",
    "records_from_json",
    "records_from_protobuf",
    "refused",
    "shown",
    "spans_from_envelope",
    "to_id",
]


def records_from_protobuf(
    message: bytes, report: Report, *, is_part: bool = False
) -> Iterator[Span | LogRecord]:
    """Yield the records of one message: an export request, or (`is_part`) one resource's part.

    Here so that the protobuf library is loaded (0.1 s) only by those who need it.
    """
    from trajscope.otlp._protobuf import records_from_protobuf as read

    return read(message, report, is_part=is_part)
