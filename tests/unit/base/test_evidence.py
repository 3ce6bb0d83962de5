"""What makes a call failed, and what does not."""

from typing import Any

import pytest

from tests.support.spans import open_span, span
from trajscope.evidence import failure_in_result, failure_of_message, failure_of_span, is_refusal
from trajscope.model.span import SpanEvent

DENIED = {"content": [{"type": "text", "text": "denied"}]}


def exception(kind: str, message: str = "boom") -> tuple[SpanEvent, ...]:
    attributes = {"exception.type": kind, "exception.message": message}
    return (SpanEvent("exception", 1, attributes),)


@pytest.mark.parametrize(
    ("fields", "result", "message"),
    [
        ({"status_code": "ERROR", "status_message": "bad"}, None, "bad"),
        ({"status_code": "ERROR", "events": exception("ValueError")}, None, "boom"),
        ({"attributes": {"error.type": "timeout"}}, None, "timeout"),
        ({"events": exception("builtins.ValueError")}, None, "boom"),
        ({"status_code": "OK"}, {"isError": True, **DENIED}, "denied"),
        ({}, {"is_error": True, **DENIED}, "denied"),
        (
            {"status_code": "OK"},
            {"status": "error", "content": [{"text": "timed out"}]},
            "timed out",
        ),
        ({}, {"status": "failed", "error_message": "bad id"}, "bad id"),
        ({}, {"success": False, "error": {"message": "no"}}, "no"),
        ({}, {"ok": False, "error": "no"}, "no"),
        ({}, {"error": "no such order"}, "no such order"),
    ],
)
def test_failed(fields: dict[str, Any], result: Any, message: str) -> None:
    found = failure_of_span(span(1, **fields), result)
    assert found.failed is True
    assert found.message == message
    assert found.evidence


@pytest.mark.parametrize(
    ("fields", "result"),
    [
        ({}, {"isError": False, "content": [{"type": "text", "text": "isError: true"}]}),
        ({}, {"status": "shipped", "order": 1}),
        ({}, {"status": "error"}),
        ({}, {"error": ""}),
        ({}, {"error": None, "success": True}),
        ({}, {"error": "3 rows had an error", "rows": [1, 2]}),
        ({}, "Error: in prose"),
        ({"status_code": "OK", "events": exception("ValueError")}, None),
        ({"status_code": "ERROR", "events": exception("langgraph.errors.GraphInterrupt")}, None),
        ({"attributes": {"error.type": ""}}, None),
    ],
)
def test_not_failed(fields: dict[str, Any], result: Any) -> None:
    assert failure_of_span(span(1, **fields), result).failed is not True


def test_an_unended_span_alone_says_nothing() -> None:
    assert failure_of_span(open_span(1)).failed is None


@pytest.mark.parametrize(
    "text",
    [
        "Error: x is not a valid tool, try one of [a].",
        "Unknown tool name: 'x'. Available tools: 'a'",
        "Tool x not found in agent weather",
        "Model tried to call unavailable tool 'x'. Available tools: a.",
        "unsupported call: x",
        "AI_NoSuchToolError: no",
        "1 validation error for get_weather: city field required",
        "Invalid arguments for tool get_weather",
        "Tool with name x not found. Please select a tool that is available.",
        "Invoking `x()` failed: tool x does not exist",
        "The tool call with name `x` is not part of the provided tools, please try again",
        "Missing required argument(s): ['city']. Received unexpected argument(s): ['town'].",
        "Error: look() got an unexpected keyword argument 'town'",
        "look() missing 1 required positional argument: 'city'",
        "Argument town is not in the tool's input schema",
    ],
)
def test_refusals_of_frameworks_are_known(text: str) -> None:
    assert is_refusal(text)
    assert failure_of_message(text).failed


@pytest.mark.parametrize("text", ["Paris: 18 C", "No errors found", "The tool is great", "404"])
def test_plain_answers_are_no_refusals(text: str) -> None:
    assert not is_refusal(text)
    assert failure_of_message(text).failed is None


@pytest.mark.parametrize(
    "text",
    [
        "ag2.exceptions.ToolFailed.BadIdError: no such order",
        "order id must look like ORD-<n>\n\nFix the errors and try again.",
    ],
)
def test_errors_in_the_form_of_a_framework_are_known(text: str) -> None:
    assert failure_of_message(text).failed
    assert not is_refusal(text)


def test_prose_counts_only_where_a_message_is_all_there_is() -> None:
    text = "ValueError: order id must look like ORD-<n>"
    assert failure_of_message(text).failed
    assert failure_in_result(text).failed is None
