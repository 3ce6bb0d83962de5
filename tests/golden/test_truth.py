"""Every recorded trace held against what really happened, and what it does not hold, by name."""

import pytest

from tests.support.truth import FORMS, differences, trajectories_of, truth_of, unknown

LACKING = {
    "google_adk-err": {"tools"},
    "mcp_mcp1-client": {"tools"},
    "mcp_mcp2-client": {"tools"},
    "mistral_both-err": {"tools"},
}
"""Where the trace says otherwise than the truth, because what would tell was not recorded."""

UNKNOWN = {
    "agno_tl-err": {"model_calls"},
    "ag2_0_oi-err": {"model_calls"},  # that recorder writes no model spans
    "autogen-par": {"args", "model_calls"},
    "crewai_oi-flow": {"model_calls"},  # that recorder writes no model spans
    "crewai_oi-twoagents": {"model_calls"},
    "google_adk-err": {"args"},
    "google_adk-mcp": {"args"},
    "mastra1-killed": {"success"},  # the call was running when the process was killed
    "mcp_fastmcp-clientserver": {"args"},
    "mcp_mcp1-client": {"args", "success"},  # the trace holds nothing of the session
    "mcp_mcp2-client": {"args", "success"},  # the client's spans never say how a call ended
    "mcp_mcp2-clientserver": {"args"},
    "mistral_both-err": {"args", "success"},  # neither library records the tools
    "pydantic_ai1x_v1-nocontent": {"args"},
    "smolagents_oi-code": {"model_calls"},
    "vercel_ai6-nocontent": {"args"},
    "voltagent-err": {"model_calls"},  # one span for a loop of them
}
"""What stays unknown because the recording leaves it out. Anything else has to be known."""


@pytest.mark.parametrize("form", FORMS)
def test_agrees_with_what_happened(form: str) -> None:
    name = form.partition("/")[0]
    found = differences(truth_of(name), trajectories_of(form))
    assert set(found) == LACKING.get(name, set()), found


@pytest.mark.parametrize("form", FORMS)
def test_knows_what_is_recorded(form: str) -> None:
    name = form.partition("/")[0]
    assert set(unknown(truth_of(name), trajectories_of(form))) == UNKNOWN.get(name, set())
