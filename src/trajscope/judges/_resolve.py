"""A judge by the name of its model, or an error that says what is missing.

One thing a newcomer would get wrong: keys come from the environment, as the provider's own library
reads them, or from the caller; they are never shown, and a missing one is told before any question.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from trajscope.errors import UsageError
from trajscope.judges._judge import Patience
from trajscope.judges._masking import MaskingJudge

if TYPE_CHECKING:
    from pydantic_ai.models import Model

_OPENAI = ("openai", "openai-chat", "openai-responses")


def resolve_judge(
    model: str,
    /,
    *,
    base_url: str | None = None,
    api_key: str | None = None,
    patience: Patience | None = None,
) -> MaskingJudge:
    """Return the judge of a model name (`openai:gpt-5`, `anthropic:claude-sonnet-4-5`, …).

    base_url, api_key: of a server that speaks OpenAI's protocol; by default the environment of the
    provider's library counts (`OPENAI_BASE_URL`, `OPENAI_API_KEY`, …).

    Raises:
        UsageError: the extra is not installed, the model or provider is unknown, or its key is
            missing.
    """
    _check_installed()
    if not isinstance(model, str) or not model.strip():
        raise UsageError(f"judge: is no model name (got {model!r:.80})", hint=_EXAMPLE)
    environment = hash(frozenset(os.environ.items()))
    return _judge(model.strip(), base_url, api_key, patience or Patience(), environment)


@lru_cache(maxsize=16)
def _judge(
    model: str,
    base_url: str | None,
    api_key: str | None,
    patience: Patience,
    environment: int,  # noqa: ARG001 - another environment may hold another key
) -> MaskingJudge:
    """Return the judge, kept: it is asked for once per question, and making a model takes 70 ms."""

    made = _made(model, base_url, api_key)  # an unknown model or a missing key is told now
    unused = [made]

    def make() -> Model:
        try:
            return unused.pop()
        except IndexError:
            return _made(model, base_url, api_key)

    return MaskingJudge(make, made.model_name, made.system or None, patience)


def _check_installed() -> None:
    try:
        import pydantic_ai  # noqa: F401
    except ImportError as error:
        raise UsageError(
            "a judge needs the package pydantic-ai-slim, which is not installed",
            hint="pip install 'trajscope[judge]'",
        ) from error


def _made(model: str, base_url: str | None, api_key: str | None) -> Model:
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model

    if model.endswith(":"):
        raise UsageError(f"judge {model}: names no model", hint=_EXAMPLE)
    try:
        made = (
            infer_model(model)
            if base_url is None and api_key is None
            else infer_model(model, lambda name: _provider(name, model, base_url, api_key))
        )
    except UserError as error:
        text = str(error).split("\n", 1)[0].split(" To try Pydantic AI", 1)[0]
        raise UsageError(f"judge {model}: {text}", hint=_hint(text)) from error
    except ImportError as error:
        raise UsageError(
            f"judge {model}: the library of its provider is not installed",
            hint=_install(str(error)),
        ) from error
    except ValueError as error:
        raise UsageError(f"judge {model}: {str(error)[:200]}", hint=_EXAMPLE) from error
    _retry_nothing(made)
    return made


_EXAMPLE = "name it as PROVIDER:MODEL, for example openai:gpt-5"


def _hint(text: str) -> str:
    return (
        _EXAMPLE
        if text.startswith("Unknown model")
        else "set the provider's key in the environment"
    )


def _install(said: str) -> str:
    """Return how to install what the library misses; it says so itself, in many words."""
    named = re.search(r"pydantic-ai-slim\[[\w-]+\]", said)
    return f"pip install '{named[0] if named else 'pydantic-ai-slim[PROVIDER]'}'"


def _provider(name: str, model: str, base_url: str | None, api_key: str | None) -> Any:
    if name not in _OPENAI:
        raise UsageError(
            f"judge {model}: base_url and api_key are for servers that speak OpenAI's protocol "
            f"(got provider {name!r})",
            hint="name it openai-chat:MODEL, or set the provider's environment variables",
        )
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIProvider(base_url=base_url, api_key=api_key)


def _retry_nothing(model: Any) -> None:
    """Switch off the client library's own retries; `Patience` says how often is tried."""
    client: Any = getattr(model, "client", None)
    if hasattr(client, "max_retries"):
        client.max_retries = 0
