"""Faults that users of other tools reported, as traces: what comes out of each is fixed here.

The inputs are invented after public bug reports; the folder names are those of the reports' list.
"""

from pathlib import Path

from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.errors import Problems
from trajscope.formats import read_captures
from trajscope.model.span import Span
from trajscope.model.step import ModelGenerationStep, ToolStep
from trajscope.model.trajectory import TokenTotals, Trajectory

CASES = Path(__file__).parents[2] / "cases"


def trajectories(path: str) -> list[Trajectory]:
    found = read_captures([str(CASES / path)], Problems(strict=True))
    return assemble([record for record in found if isinstance(record, Span)], Reader())


def trajectory(path: str) -> Trajectory:
    (only,) = trajectories(path)
    return only


def tools(found: Trajectory) -> list[ToolStep]:
    steps = [s for s in found.walk() if isinstance(s, ToolStep)]
    return sorted(steps, key=lambda s: s.order or 0)


def names(found: Trajectory) -> list[str]:
    return [s.name for s in tools(found)]


def totals(found: Trajectory) -> tuple[int | None, int | None, int | None, bool]:
    tokens = found.tokens or TokenTotals()
    return tokens.input, tokens.output, tokens.total, tokens.complete


def test_a_parent_that_repeats_the_sum_of_its_calls_is_not_added() -> None:
    found = trajectory("B10/agent-run.json")
    assert found.model_calls == 2
    assert names(found) == ["find_article"]  # `running tools` around it is a wrapper
    assert totals(found) == (2410, 128, 2538, True)
    assert found.tokens is not None
    assert found.tokens.cached_input == 1800  # a part of the 2410, in either spelling


def test_counts_that_are_not_there_are_unknown_and_never_zero() -> None:
    one, other = trajectories("B11/streamed.json")
    assert totals(one) == (None, None, None, False)
    assert totals(other) == (260, 40, 300, False)
    assert (one.model_calls, other.model_calls) == (2, 2)  # ai.streamText only wraps them
    calls = [(s.name, s.tool_args) for t in (one, other) for s in tools(t)]
    assert calls == [("list_names", {"n": 3}), ("list_names", {"n": 5})]


def test_a_call_recorded_by_two_libraries_counts_once() -> None:
    found = trajectory("B12/two-libs.json")
    assert found.model_calls == 2
    assert totals(found) == (281, 38, 319, True)
    assert [(s.name, s.tool_args, s.success) for s in tools(found)] == [
        ("get_weather", {"city": "Faro"}, True)
    ]
    assert sum(isinstance(s, ModelGenerationStep) for s in found.walk()) == 2
    assert sum(1 for _ in found.walk()) == 4  # a run, two generations, a tool call


def test_calls_that_stand_only_in_messages_come_once_each_with_their_own_results() -> None:
    found = trajectory("B13/messages-only.json")
    assert [(s.name, s.tool_args, s.tool_result) for s in tools(found)] == [
        ("search_kb", {"q": "export rights"}, "Plan pro may export."),
        ("get_user", {"id": 42}, {"plan": "pro"}),
    ]
    assert all(s.from_messages and s.success and s.duration_ms is None for s in tools(found))
    assert found.model_calls == 3
    assert totals(found) == (290, 50, 340, True)


def test_failures_that_the_status_of_a_span_does_not_show() -> None:
    found = trajectory("B16/tools.json")
    assert [(s.name, s.success, s.failure) for s in tools(found)] == [
        ("list_files", True, None),
        ("delete_file", False, "EACCES: permission denied"),
        ("fetch_url", False, "Error: timed out"),
        ("parse_csv", False, "bad delimiter"),
        ("ping_host", False, "timeout"),
        ("summarize", True, None),
    ]


def test_an_error_inside_the_result_outweighs_a_recorded_success() -> None:
    (call,) = tools(trajectory("B16/stored-record.json"))
    assert (call.name, call.success, call.failure) == ("read_secret", False, "not allowed")
    assert getattr(call, "mcp_server", None) == "vault"
