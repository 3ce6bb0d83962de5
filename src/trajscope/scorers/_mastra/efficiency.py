"""The reference's `checkTrajectoryEfficiency`: budgets and adjacent identical calls.

One thing a newcomer would get wrong: only the token sum looks below the top level, and a budget
on a figure that was not recorded raises instead of being reported as not evaluable.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

from trajscope.errors import UsageError
from trajscope.match.js import (
    UNDEFINED,
    at_least,
    coalesce,
    elements,
    given,
    is_number,
    member,
    plain,
    round2,
    same,
    same_json,
    to_number,
    total,
    truthy,
)

Json = Any


class BudgetError(UsageError):
    """A budget that is no number, or that lacks the figures it needs.

    kind: invalid_budget, token_measurement_missing, token_evidence_missing or
    duration_measurement_missing; field or step: which budget, which generation.
    """

    def __init__(
        self, message: str, *, kind: str, step: Json = UNDEFINED, field: str | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.step = step
        self.field = field


def check_trajectory_efficiency(trajectory: Json, options: Json = UNDEFINED) -> Json:
    """Return the reference's efficiency result.

    Raises:
        BudgetError: a budget is invalid or cannot be evaluated.
    """
    options = {} if options is UNDEFINED else options
    budgets = {key: member(options, key) for key in _BUDGETS}
    no_redundant = given(member(options, "noRedundantCalls"), True)
    for key, budget in budgets.items():
        if budget is not UNDEFINED and not _measured(budget):
            raise BudgetError(
                f"{key}: is no budget (got {budget!r}); a finite number of at least 0 was expected",
                kind="invalid_budget",
                field=key,
            )
    steps = elements(member(trajectory, "steps"), "steps")
    tokens = _tokens(steps, required=budgets["maxTotalTokens"] is not UNDEFINED)
    duration = _duration(trajectory, steps, required=budgets["maxTotalDurationMs"] is not UNDEFINED)
    redundant = _redundant(steps) if truthy(no_redundant) else []
    parts: list[float] = []
    over: list[bool] = []
    for budget, value in zip(budgets.values(), (float(len(steps)), tokens, duration), strict=True):
        over.append(budget is not UNDEFINED and value > float(budget))
        if budget is not UNDEFINED:
            parts.append(_within(value, float(budget)))
    if truthy(no_redundant):
        parts.append(max(0.0, 1 - 0.2 * len(redundant)) if redundant else 1.0)
    return {
        "score": round2(total(parts) / len(parts)) if parts else 1,
        "totalSteps": len(steps),
        "overStepBudget": over[0],
        "totalTokens": plain(tokens),
        "overTokenBudget": over[1],
        "totalDurationMs": plain(duration),
        "overDurationBudget": over[2],
        "redundantCalls": redundant,
    }


_BUDGETS = ("maxSteps", "maxTotalTokens", "maxTotalDurationMs")


def _measured(value: Json) -> bool:
    return is_number(value) and math.isfinite(value) and value >= 0


def _within(value: float, limit: float) -> float:
    if not value > limit:
        return 1.0
    return at_least(0.0, 1 - (value - limit) / limit) if limit else 0.0


def _tokens(steps: list[Json], *, required: bool) -> float:
    tokens = 0.0
    generations = 0
    stack = list(steps)
    while stack:
        step = stack.pop()
        if member(step, "stepType") == "model_generation":
            generations += 1
            counts = [member(step, key) for key in ("promptTokens", "completionTokens")]
            if required and not all(map(_measured, counts)):
                raise BudgetError(
                    f"maxTotalTokens: step {member(step, 'name')!r} records no token counts; "
                    "every generation must, for a token budget",
                    kind="token_measurement_missing",
                    step=member(step, "name"),
                )
            tokens += total(to_number(coalesce(count, 0)) for count in counts)
        children = coalesce(member(step, "children"), [])
        stack.extend(elements(children, "children"))
    if required and not generations:
        raise BudgetError(
            "maxTotalTokens: the trajectory has no model generation; a token budget needs one",
            kind="token_evidence_missing",
        )
    return tokens


def _duration(trajectory: Json, steps: list[Json], *, required: bool) -> float:
    whole = member(trajectory, "totalDurationMs")
    parts = [member(step, "durationMs") for step in steps]
    if required:
        known = _measured(whole) if whole is not UNDEFINED else parts and all(map(_measured, parts))
        if not known:
            raise BudgetError(
                "maxTotalDurationMs: the trajectory records no duration; "
                "a total, or one for every step, is needed for a duration budget",
                kind="duration_measurement_missing",
            )
    if whole is not UNDEFINED and whole is not None:
        return to_number(whole)
    return total(to_number(coalesce(part, 0)) for part in parts)


def _redundant(steps: list[Json]) -> list[Json]:
    return [
        {"name": member(step, "name"), "index": index}
        for index, (before, step) in enumerate(itertools.pairwise(steps), start=1)
        if same(member(before, "name"), member(step, "name"))
        and same(member(before, "stepType"), member(step, "stepType"))
        and member(step, "stepType") in ("tool_call", "mcp_tool_call")
        and _same_args(member(before, "toolArgs"), member(step, "toolArgs"))
    ]


def _same_args(left: Json, right: Json) -> bool:
    if left is UNDEFINED or right is UNDEFINED:
        return left is right
    return same_json(left, right)
