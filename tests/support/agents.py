"""A real agent of pydantic-ai on its test model: no network, the same calls every time."""

from __future__ import annotations

import asyncio

from opentelemetry.sdk.trace import TracerProvider
from pydantic_ai import Agent
from pydantic_ai.capabilities.instrumentation import Instrumentation
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.test import TestModel


def weather_agent(provider: TracerProvider) -> Agent[None, str]:
    """Return an agent that calls `get_weather` and `get_time` once each, traced by `provider`."""
    agent = Agent(
        TestModel(custom_output_text="Sunny."),
        name="weather",
        capabilities=[Instrumentation(InstrumentationSettings(tracer_provider=provider))],
    )

    @agent.tool_plain
    def get_weather(city: str) -> str:
        """Return the weather of a city."""
        return f"sunny in {city}"

    @agent.tool_plain
    def get_time(city: str) -> str:
        """Return the time in a city."""
        return f"noon in {city}"

    return agent


def ask_for_weather(provider: TracerProvider) -> str:
    """Run the agent once and return its answer; its own `run_sync` leaves an event loop open."""
    return asyncio.run(weather_agent(provider).run("What about Paris?")).output
