"""Tokens and price of a model's calls, as the model library counts them.

One thing a newcomer would get wrong: the library writes 0 for a count the provider did not report;
of the cached counts, 0 is taken for unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trajscope.errors import TrajscopeError
from trajscope.model.judge import TokenUsage

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse


def usage_of(response: ModelResponse) -> TokenUsage | None:
    """Return the tokens of one call; None where the provider reports none."""
    usage = response.usage
    if not usage.has_values():
        return None
    return TokenUsage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.input_tokens + usage.output_tokens,
        reasoning_tokens=usage.output_reasoning_tokens or usage.details.get("reasoning_tokens"),
        cached_input_tokens=usage.cache_read_tokens or None,
        cache_creation_input_tokens=usage.cache_write_tokens or None,
    )


def sum_usage(one: TokenUsage | None, other: TokenUsage | None) -> TokenUsage | None:
    """Return the tokens of two calls together; a count that one of them lacks is the other's."""
    if one is None or other is None:
        return one or other
    figures = {}
    for name in TokenUsage.__dataclass_fields__:
        known = [v for v in (getattr(one, name), getattr(other, name)) if v is not None]
        figures[name] = sum(known) if known else None
    return TokenUsage(**figures)


def cost_of(response: ModelResponse) -> float | None:
    """Return the price in US dollars, where the price list knows the model."""
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError, TrajscopeError):
        return None
