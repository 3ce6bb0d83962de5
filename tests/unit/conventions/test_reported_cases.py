"""More faults that users of other tools reported: noise, order, names behind prefixes, sessions."""

from pathlib import Path

import pytest

from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.errors import Problems
from trajscope.formats import read_captures
from trajscope.model.span import Span
from trajscope.model.step import McpToolCallStep, ModelGenerationStep, ToolStep
from trajscope.model.trajectory import TokenTotals, Trajectory
from trajscope.names import aliases, mcp_parts
from trajscope.scope import merge_session

CASES = Path(__file__).parents[2] / "cases"
UNRELATED = "8e1c9c80d9bd6318679c8213618ae21e"


def spans(path: str) -> list[Span]:
    found = read_captures([str(CASES / path)], Problems(strict=True))
    return [record for record in found if isinstance(record, Span)]


def trajectories(path: str) -> list[Trajectory]:
    return assemble(spans(path), Reader())


def calls(found: Trajectory) -> list[ToolStep]:
    steps = [s for s in found.walk() if isinstance(s, ToolStep)]
    return sorted(steps, key=lambda s: s.order or 0)


def test_chunks_and_wrappers_vanish_without_what_is_below_them() -> None:
    (found,) = trajectories("B14/stored-spans.json")
    assert (found.span_count, found.noise_span_count) == (13, 8)
    assert (len(found.root_span_ids), found.orphans) == (1, ())
    assert [s.name for s in calls(found)] == ["search_orders", "lookup_shipping"]

    nest = [found.root, *found.steps]
    while nest[-1] is not None and nest[-1].children:
        nest += nest[-1].children
    names = [s.name for s in nest if s is not None]
    assert names == ["shop", "gpt-4o-mini", "search_orders", "shipping", "lookup_shipping"]

    (generation,) = [s for s in found.walk() if isinstance(s, ModelGenerationStep)]
    assert generation.model_calls == 2
    tokens = found.tokens or TokenTotals()
    assert (tokens.input, tokens.output, tokens.total) == (900, 120, 1020)


def test_calls_in_one_millisecond_keep_their_order() -> None:
    (found,) = trajectories("B15/fast-tools.json")
    assert [s.name for s in calls(found)] == ["read_meter", "notify", "set_power"]
    assert calls(found)[0].start_ns == 1772528400123000100


@pytest.mark.parametrize("order", [1, -1])
def test_the_names_of_mcp_tools_keep_prefix_and_server(order: int) -> None:
    recorded = spans("B20/names.json")[::order]
    first = [calls(t)[0] for t in assemble(recorded, Reader())]
    assert [s.name for s in first] == [
        "mcp__github__create_issue",
        "mcp_github_create_issue",
        "github-create_issue",
        "create_issue",
        "mcp__github__create_issue_comment",
        "mcp__github__delete_repo",
        "mcp__vault__read_secrets",
    ]
    assert all(isinstance(s, McpToolCallStep) for s in first)
    servers = [s.mcp_server for s in first if isinstance(s, McpToolCallStep)]
    assert servers == ["github"] * 6 + ["vault"]
    bare = [aliases(s.name, server)[-1] for s, server in zip(first, servers, strict=True)]
    assert bare[:6] == ["create_issue"] * 4 + ["create_issue_comment", "delete_repo"]
    assert mcp_parts("mcp__web__http_post") == ("web", "http_post")


def test_a_session_is_its_traces_in_order_and_no_other() -> None:
    found = trajectories("B21/turns.json")
    assert [len(t.root_span_ids) for t in found] == [1, 1, 1, 1]
    assert [t.orphans for t in found] == [(), (), (), ()]  # a link is no parent
    of_session = [t for t in found if t.session_id == "chat-7781"]
    assert [t.trace_id for t in found if t.session_id is None] == [UNRELATED]
    assert [t.trace_id for t in of_session] == [
        "726daaca6b46f4d02c758403bd5c04f5",
        "464e6e4615c540b0f37f03215c69264a",
        "9820de3bb41d9a4d76aaa1cc93acd037",
    ]
    whole = merge_session(of_session)
    names = [s.name for s in calls(whole)]
    assert names == ["find_hotel", "hold_room", "confirm_booking", "send_receipt"]
    assert whole.tokens is not None
    assert (whole.tokens.input, whole.tokens.output) == (460, 40)


def test_links_stay_with_their_span() -> None:
    linked = {s.trace_id[:4]: s.links[0] for s in spans("B21/turns.json") if s.links}
    assert {k: (v.trace_id[:4], v.span_id) for k, v in linked.items()} == {
        "464e": ("726d", "f0ed8653cb26b073"),
        "9820": ("464e", "04d2aab93662d88c"),
    }
