"""What makes a call failed: the one place that decides it, three-valued.

One thing a newcomer would get wrong: the word "error" in a result is no evidence. A result fails
a call only through a field that says so (`isError: true`, a status that says error beside an error
text), never through its prose; prose counts only where a message is all that is left of a call.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec import UNSET

from trajscope.model.span import Json, Span
from trajscope.values import text_of

INTERRUPTS = frozenset(
    {"GraphInterrupt", "NodeInterrupt", "GraphBubbleUp", "Interrupt", "ParentCommand"}
)
"""Exception types that stop a run on purpose (a person is asked, control passes on): no failure."""

_BAD_STATUS = frozenset({"error", "failed", "failure", "fail", "exception", "errored"})
_ERROR_KEYS = ("error", "error_message", "errorMessage", "message", "reason", "detail", "exception")
_ENVELOPE_KEYS = frozenset(
    {*_ERROR_KEYS, "status", "success", "ok", "isError", "is_error", "error_type", "errorType"}
    | {"code", "error_code", "type", "content", "result", "data", "output", "stack", "traceback"}
)

REFUSAL = re.compile(
    r"not a valid tool|unknown tool|no such tool|unsupported call|unavailable tool|NoSuchTool"
    r"|tool\b.{0,80}\b(?:not found|does not exist|doesn't exist|is not available|unavailable)"
    r"|(?:function|tool)\b.{0,80}\bnot found in\b"
    r"|invalid (?:tool )?(?:arguments|input|parameters)|InvalidToolInput|InvalidToolArguments"
    r"|(?:validation|parsing) errors?(?::| (?:for|in|of|while))"
    r"|is not part of the provided (?:tools|functions)|is not in the tool's input schema"
    r"|missing (?:\d+ )?required (?:positional |keyword-only )?arguments?\b"
    r"|(?:got an|received) unexpected (?:keyword )?argument"
    r"|arguments? .{0,40}(?:rejected|invalid)"
    r"|execution (?:was )?(?:denied|not approved)|user rejected the tool call"
    r"|tool call was not approved",
    re.IGNORECASE | re.DOTALL,
)
"""Texts by which frameworks refuse a call: an unknown tool, rejected arguments, a person's no."""

_ERROR_TEXT = re.compile(
    r"\s*(?:\W{0,2}(?:error|exception|failed|failure|traceback)\b"
    r"|(?:[a-z_]\w{0,60}\.){0,8}[A-Z]\w*(?:Error|Exception)\b)",
    re.IGNORECASE,
)
_RETRY = "Fix the errors and try again."
"""What Pydantic AI puts behind the reason for which a tool asks to be called again."""


_TELLING = frozenset({"isError", "is_error", "status", "success", "ok", "error"})
"""The fields of a result that can say what became of its call; most results have none."""


class Failure(NamedTuple):
    """What is known of a call: failed (None is unknown), the message, and what said so."""

    failed: bool | None = None
    message: str | None = None
    evidence: str = ""


NOTHING_KNOWN = Failure()


def failure_in_result(result: Json) -> Failure:
    """Return what the fields of a tool result say of its call.

    >>> failure_in_result({"isError": True, "content": [{"type": "text", "text": "denied"}]})
    Failure(failed=True, message='denied', evidence='isError in the result')
    >>> failure_in_result({"status": "error", "error_message": "bad id"}).message
    'bad id'
    >>> failure_in_result({"status": "shipped", "error": ""})
    Failure(failed=None, message=None, evidence='')
    """
    if not isinstance(result, dict) or _TELLING.isdisjoint(result):
        return NOTHING_KNOWN
    for key in ("isError", "is_error"):
        if result.get(key) is True:
            return Failure(True, _message_in(result), f"{key} in the result")
        if result.get(key) is False:
            return Failure(False, None, f"{key} in the result")
    if result.get("error") is True and (message := _message_in(result)):
        return Failure(True, message, "error: true in the result")
    status = result.get("status")
    if isinstance(status, str) and is_bad_status(status) and (message := _message_in(result)):
        return Failure(True, message, "status in the result")
    for key in ("success", "ok"):
        if result.get(key) is False and (message := _message_in(result)):
            return Failure(True, message, f"{key} in the result")
    error = _text_in(result.get("error"))
    if error and result.keys() <= _ENVELOPE_KEYS and result.get("success") is not True:
        return Failure(True, error, "error in the result")
    return NOTHING_KNOWN


def is_bad_status(word: str) -> bool:
    """Whether a recorded status word says that the operation went wrong.

    >>> is_bad_status("ERROR"), is_bad_status("shipped")
    (True, False)
    """
    return word.lower() in _BAD_STATUS


def _message_in(result: dict[str, Json]) -> str | None:
    for key in (*_ERROR_KEYS, "content", "result", "output"):
        if text := _text_in(result.get(key)):
            return text
    return None


def _text_in(value: Json) -> str | None:
    """Text of an error value: a text, an object with a message, or text parts."""
    if isinstance(value, str):
        return value or None
    if isinstance(value, dict):
        return next(
            (t for k in ("message", "text", "detail", "error") if (t := text_of(value.get(k)))),
            None,
        )
    if isinstance(value, list):
        texts = [
            t for part in value if (t := _text_in(part) if isinstance(part, dict | str) else None)
        ]
        return "\n".join(texts) or None
    return None


def failure_of_message(result: Json) -> Failure:
    """Return what a tool message says of its call where no span of the call exists.

    Here prose counts, since it is all there is: texts that begin like an error, and refusals.

    >>> failure_of_message("Error: order id must look like ORD-<n>").failed
    True
    >>> failure_of_message("Paris: 18 C").failed is None
    True
    """
    found = failure_in_result(result)
    if found.failed is None and isinstance(result, str):
        if REFUSAL.search(result[:2000]):
            return Failure(True, result, "a refusal by the framework")
        if _ERROR_TEXT.match(result) or result.rstrip().endswith(_RETRY):
            return Failure(True, result, "an error text in the tool message")
    return found


_MCP_FIXED = re.compile(
    r"(?:Error (?:executing|calling) tool|Unknown tool:)"
    r" ['\"]?(?P<tool>[^'\":\s]+)['\"]?(?:\s*$|:\s)"
    r"|Tool ['\"]?(?P<missing>[^'\":\s]+)['\"]? (?:not found|disabled)\b"
    r"|MCP error -\d+: |(?:Input|Output) validation error: "
)


def failure_of_mcp_result(result: Json) -> tuple[Failure, str | None]:
    """Return what the fixed error forms of the MCP SDKs say, and the tool they name, if any.

    Clients that keep only the text of an MCP answer lose its `isError`; what the SDKs write into
    that text is fixed and names the tool, so it is evidence where the name is the call's own.

    >>> failure_of_mcp_result({"type": "text", "text": "Error executing tool add"})[1]
    'add'
    """
    inner = result.get("content") if isinstance(result, dict) else None
    text = _text_in(inner if inner is not None else result)
    match = _MCP_FIXED.match(text) if text else None
    if match is None:
        return NOTHING_KNOWN, None
    return Failure(True, text, "the MCP SDK's error form"), match["tool"] or match["missing"]


def is_refusal(text: str | None) -> bool:
    """Whether a text is a framework's refusal to run a call (unknown tool, rejected arguments)."""
    return text is not None and REFUSAL.search(text[:2000]) is not None


def failure_of_span(span: Span, result: Json = UNSET) -> Failure:
    """Return what one span, with its decoded result, says of the call it records.

    The strongest evidence first: isError in the result outweighs even a recorded success; then
    the span's status, `error.type`, an exception event while the status is not OK, and the
    result's own status fields.
    """
    in_result = failure_in_result(result)
    if in_result.failed or not (
        span.events or span.status_code == "ERROR" or "error.type" in span.attributes
    ):
        return in_result
    exception, message = _exception(span)
    if is_interrupt(span):
        return Failure(False, None, f"{exception or 'the status'} is an interrupt")
    if span.status_code == "ERROR":
        kind = text_of(span.attributes.get("error.type"))
        text = span.status_message or message or text_of(result) or exception or kind
        return Failure(True, text, "span status ERROR")
    error_type = text_of(span.attributes.get("error.type"))
    if error_type:
        text = text_of(span.attributes.get("error.message")) or message or error_type
        return Failure(True, text, "error.type")
    if exception and span.status_code != "OK":
        return Failure(True, message or exception, "exception event")
    return in_result


def is_interrupt(span: Span) -> bool:
    """Whether the span ended by an exception that stops a run on purpose.

    Exporters that lose the type (`Exception`) keep it at the beginning of the text.
    """
    exception, message = _exception(span)
    if exception is not None and exception.rsplit(".", 1)[-1] in INTERRUPTS:
        return True
    text = message or (span.status_message if span.status_code == "ERROR" else "")
    return text.partition("(")[0].rsplit(".", 1)[-1] in INTERRUPTS


def _exception(span: Span) -> tuple[str | None, str | None]:
    """Type and message of the last `exception` event (OTel semantic conventions)."""
    for event in reversed(span.events):
        if event.name == "exception":
            kind = text_of(event.attributes.get("exception.type"))
            message = text_of(event.attributes.get("exception.message"))
            return kind or "exception", message
    return None, None
