"""The reference's tool-call accuracy scorer by code.

One thing a newcomer would get wrong: an expected order that is not strict looks at the *first* call
of each tool only, so a tool that is expected twice is never in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trajscope.errors import UsageError
from trajscope.evals.messages import extract_tool_calls
from trajscope.evals.scorer import StepContext, StepScorer, create_scorer
from trajscope.match.js import UNDEFINED, member, truthy

Json = Any

TOOL_CALL_ID = "code-tool-call-accuracy-scorer"


class MissingOption(UsageError):  # noqa: N818 - it says what is wrong
    """Neither a tool nor an order was given."""

    kind = "missing_option"


class EmptyRun(UsageError):  # noqa: N818 - it says what is wrong
    """The run has no input messages or no output."""

    kind = "empty_input_or_output"


def create_tool_call_accuracy_scorer_code(options: Json = UNDEFINED) -> StepScorer:
    """Return the reference's tool-call accuracy scorer."""
    options = {} if options is UNDEFINED else options
    tool, order = member(options, "expectedTool"), member(options, "expectedToolOrder")
    strict = member(options, "strictMode")
    strict = False if strict is UNDEFINED else strict
    if not truthy(tool) and not truthy(order):
        raise MissingOption(
            "neither expectedTool nor expectedToolOrder was given; one was expected"
        )

    def preprocess(context: StepContext) -> Json:
        return _preprocess(context, tool, order, strict)

    def score(context: StepContext) -> Json:
        found = context.results["preprocess"]
        if not found["hasToolCalls"]:
            return 0
        # An order that is empty is no order here, though it was enough to make the scorer.
        key = "correctOrderCalled" if _length(order) else "correctToolCalled"
        return 1 if found[key] else 0

    scorer = create_scorer(id=TOOL_CALL_ID, compat="mastra")
    return scorer.preprocess(preprocess).generate_score(score)


def _preprocess(context: StepContext, tool: Json, order: Json, strict: Json) -> Json:
    run_input = context.run.get("input")
    given = run_input.get("inputMessages") if isinstance(run_input, Mapping) else None
    output = context.run.get("output", UNDEFINED)
    if not _length(given) or not _length(output):
        raise EmptyRun("the run has no input messages or no output; both were expected")
    calls = extract_tool_calls(output, compat="mastra")
    actual = calls["tools"]
    found: dict[str, Json] = {
        "expectedTool": tool,
        "actualTools": actual,
        "strictMode": strict,
        "expectedToolOrder": order,
        "hasToolCalls": len(actual) > 0,
        "correctToolCalled": _has_tool(actual, tool, strict),
        "toolCallInfos": calls["toolCallInfos"],
        "correctOrderCalled": _in_order(actual, order, strict) if truthy(order) else None,
    }
    return {key: value for key, value in found.items() if value is not UNDEFINED}


def _length(value: Json) -> int:
    return len(value) if isinstance(value, list | tuple | str) else 0


def _has_tool(actual: list[Json], tool: Json, strict: Json) -> bool:
    if not truthy(tool):
        return False
    return actual == [tool] if truthy(strict) else tool in actual


def _in_order(actual: list[Json], order: Json, strict: Json) -> bool:
    wanted = list(order)
    if truthy(strict):
        return actual == wanted
    last = -1
    for tool in wanted:
        at = actual.index(tool) if tool in actual else -1
        if at <= last:
            return False
        last = at
    return True
