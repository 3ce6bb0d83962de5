"""What a backend's answer to a batch means.

One thing a newcomer would get wrong: the SDK's exporters take a redirect and a partial success
for a success. Events a backend turned away are lost there without a word; here they are told.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse

from trajscope.pipeline.exporting import Delivery

AGAIN = "nothing is lost: the same command sends what is left"
CREDENTIALS = "give credentials with --header NAME=VALUE, or OTEL_EXPORTER_OTLP_HEADERS"
NO_OTLP = "is it an OTLP address? --protocol grpc is for port 4317, http for 4318"


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The last answer over HTTP; None is: there was none."""

    status: int
    reason: str
    content_type: str
    body: bytes
    location: str | None = None


def from_http(confirmed: bool, answer: HttpAnswer | None, size: int) -> Delivery:
    """Return what became of a batch of `size` events; `confirmed` is what the exporter says."""
    if answer is None and confirmed:  # an exporter whose answers cannot be looked at
        return Delivery(True)
    if answer is None:
        return _down("cannot be reached", AGAIN)
    status = answer.status
    said = f"answered {status} {answer.reason}".rstrip()
    if 200 <= status < 300:
        if _is_page(answer):
            return _down(f"{said} with a web page, not as an OTLP backend does", NO_OTLP)
        if not confirmed:
            return _down("failed while its answer was read", AGAIN)
        return _partly(*_rejected(answer), size)
    if 300 <= status < 400:
        where = f" and points to {answer.location}" if answer.location else ""
        return _down(f"{said}{where}", "give the address it points to")
    if status in (401, 403):
        return _down(said, CREDENTIALS)
    if status in (404, 405):
        return _down(said, NO_OTLP)
    if 400 <= status < 500 and status not in (408, 429):
        return Delivery(False, failure=f"{said}: {_excerpt(answer.body)}", hint=AGAIN)
    return _down(f"{said}, also when it was asked again", AGAIN)


def from_grpc(code: str | None, details: str, response: Any, size: int) -> Delivery:
    """Return what became of a batch of `size` events. code: of the last failure, None: success."""
    if code is None:
        part = getattr(response, "partial_success", None)
        rejected = part.rejected_log_records if part is not None else 0
        return _partly(rejected, part.error_message if part is not None else "", size)
    said = f"answered {code}" + (f": {details[:200]}" if details else "")
    if code in ("UNAUTHENTICATED", "PERMISSION_DENIED"):
        return _down(said, CREDENTIALS)
    if code in ("UNIMPLEMENTED", "NOT_FOUND"):
        return _down(said, NO_OTLP)
    if code in ("INVALID_ARGUMENT", "FAILED_PRECONDITION"):
        return Delivery(False, failure=said, hint=AGAIN)
    if code == "DEADLINE_EXCEEDED":
        return _down("did not answer in time", f"{AGAIN}; --timeout waits longer")
    if code == "UNAVAILABLE":
        return _down(f"cannot be reached ({said})", AGAIN)
    return _down(said, AGAIN)


def _down(failure: str, hint: str) -> Delivery:
    return Delivery(False, failure=failure, hint=hint, is_down=True)


def _partly(rejected: int, message: str, size: int) -> Delivery:
    """Return a success, whole or in part. What was turned away must not be sent again (OTLP)."""
    if rejected <= 0:
        return Delivery(True)
    failure = f"turned {min(rejected, size)} of {size} events away"
    failure += f": {message[:200]}" if message else ""
    hint = "the backend wants them not to be sent again; ask it why"
    if rejected >= size:
        return Delivery(False, failure=failure, hint=AGAIN)
    return Delivery(True, refused=rejected, failure=failure, hint=hint)


def _rejected(answer: HttpAnswer) -> tuple[int, str]:
    """Return how many events the answer says it does not take, and why."""
    if "json" in answer.content_type:
        try:
            part = json.loads(answer.body)["partialSuccess"]
            return int(part.get("rejectedLogRecords", 0)), str(part.get("errorMessage", ""))
        except (ValueError, LookupError, TypeError, AttributeError):
            return 0, ""
    try:
        found = ExportLogsServiceResponse.FromString(answer.body).partial_success
    except DecodeError:  # "ok" and the like of backends that are no friends of protobuf
        return 0, ""
    return found.rejected_log_records, found.error_message


def _is_page(answer: HttpAnswer) -> bool:
    start = answer.body[:200].lstrip().lower()
    return "html" in answer.content_type and start.startswith((b"<!doctype", b"<html"))


def _excerpt(body: bytes) -> str:
    """Return the readable part of an error's body: a protobuf Status holds its text in between."""
    text = body[:500].decode("utf-8", "ignore")
    return "".join(char for char in text if char.isprintable())[:200] or "no reason given"
