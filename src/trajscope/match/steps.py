"""Whether a recorded step is the expected one: name, type and data, each with its reason.

One thing a newcomer would get wrong: the answer is three-valued. Data that were not recorded make
the pair *unknown*, and the score above it may then not be evaluable.
"""

from __future__ import annotations

from collections.abc import Iterator

from trajscope.match.arguments import MATCHES, MAX_REASONS, Match, match_args, shown
from trajscope.match.patterns import compile_pattern
from trajscope.model.expectation import ArgsMode, ExpectedStep
from trajscope.model.reading import TOOL_STEP_TYPES, StepType
from trajscope.model.step import BaseStep, ToolStep
from trajscope.values import equal_json


def match_step(expected: ExpectedStep, actual: BaseStep, args_mode: ArgsMode = "exact") -> Match:
    """Return whether the actual step is the expected one: name, type, every data field that is set.

    `tool_call` as a type stands for a tool call of any kind. Unknown data make the pair unknown
    only if everything that is known fits.
    """
    if not compile_pattern(expected.name).matches_step(actual):
        return Match(False, (f"name: is {actual.name!r:.80}; {expected.name!r:.80} was expected",))
    if expected.step_type is not None and not _type_fits(expected.step_type, actual.step_type):
        reason = f"step_type: is {actual.step_type}; {expected.step_type} was expected"
        return Match(False, (reason,))
    return _joined(_data_matches(expected, actual, expected.args_mode or args_mode))


def _type_fits(expected: StepType, actual: StepType) -> bool:
    return expected == actual or (expected is StepType.TOOL_CALL and actual in TOOL_STEP_TYPES)


def _joined(matches: Iterator[Match]) -> Match:
    found = list(matches)
    bad = [m for m in found if m.holds is False] or [m for m in found if m.holds is None]
    if not bad:
        return MATCHES
    return Match(bad[0].holds, tuple(r for m in bad for r in m.reasons)[:MAX_REASONS])


def _data_matches(expected: ExpectedStep, actual: BaseStep, mode: ArgsMode) -> Iterator[Match]:
    data = expected.data
    if isinstance(actual, ToolStep) and (expected.args_match or "tool_args" in data):
        yield match_args(
            data.get("tool_args"),
            actual.tool_args,
            mode if "tool_args" in data else "subset",
            expected.args_match or {},
        )
        data.pop("tool_args", None)
    for field, wanted in data.items():
        if field not in type(actual).model_fields:
            yield Match(False, (f"{field}: a step of type {actual.step_type} has none",))
        elif (found := getattr(actual, field)) is None and wanted is not None:
            yield Match(None, (f"{field}: is not recorded; {shown(wanted)} was expected",))
        elif not equal_json(wanted, found):
            yield Match(False, (f"{field}: is {shown(found)}; {shown(wanted)} was expected",))
