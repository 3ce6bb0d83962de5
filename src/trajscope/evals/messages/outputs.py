"""What an agent said: texts and reasoning from the output of a run.

One thing a newcomer would get wrong: the assistant's message is the *first* with a text by default,
as the documentation says, and the last under `compat="mastra"`, as the reference has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from reprlib import repr as shown
from typing import Any, Literal

from trajscope.errors import UsageError
from trajscope.evals._mastra import text as mastra
from trajscope.evals.adapters import convert, plain
from trajscope.evals.messages._content import reasoning_in, role_of, texts_of
from trajscope.evals.scorer import Compat, check_compat
from trajscope.model.span import Json
from trajscope.values import text_of


def get_text_content(message: Any, *, compat: Compat | None = None) -> str:
    """Return all text of one message, "" when it has none.

    Raises:
        UsageError: this is no message; under compat, it is null.

    >>> get_text_content({"role": "user", "content": [{"type": "text", "text": "a"},
    ...                                               {"type": "text", "text": "b"}]})
    'a\\nb'
    """
    check_compat(compat)
    if compat is not None:
        return mastra.text_content(message)  # type: ignore[no-any-return]
    message = plain(message)
    if isinstance(message, Mapping) and isinstance(message.get("content"), str):
        return str(message["content"])
    return "\n".join(text for text in texts_of([message]) if text)


def get_assistant_message_from_run_output(
    output: Any,
    *,
    which: Literal["first", "last"] = "first",
    compat: Compat | None = None,
) -> str | None:
    """Return the text of the first assistant message that has one; None when none has.

    The output may be messages, one message, or the bare text. `which="last"` returns the last
    text instead: the answer of a run that also says what it is about to do.

    Raises:
        UsageError: the output holds no messages, or `which` is unknown.

    >>> get_assistant_message_from_run_output([{"role": "assistant", "content": "It is 18 C."}])
    'It is 18 C.'
    """
    check_compat(compat)
    if compat is not None:
        return mastra.assistant_message(output)  # type: ignore[no-any-return]
    if which not in ("first", "last"):
        raise UsageError(f'which: is unknown (got {shown(which)}); "first" or "last" was expected')
    output = plain(output)
    if output is None or isinstance(output, str):
        return output or None
    if isinstance(output, Mapping) and "role" not in output:
        text = text_of(output.get("text")) or text_of(output.get("content"))
        if text:
            return text
    texts = [text for text in texts_of(output, "assistant") if text]
    return texts[0 if which == "first" else -1] if texts else None


def extract_agent_response_messages(output: Any, *, compat: Compat | None = None) -> list[str]:
    """Return the text of every assistant message, "" for one that only calls tools.

    Raises:
        UsageError: the output holds no messages.
    """
    check_compat(compat)
    if compat is not None:
        return mastra.agent_response_messages(output)
    return [output] if isinstance(output, str) else list(texts_of(output, "assistant"))


def get_reasoning_from_run_output(output: Any, *, compat: Compat | None = None) -> Json:
    """Return the reasoning of all assistant messages, joined by line breaks; None for none.

    Under compat that of the first assistant message, of whatever type it is there.

    Raises:
        UsageError: the output holds no messages.
    """
    check_compat(compat)
    if compat is not None:
        return mastra.reasoning(output)
    if output is None or isinstance(output, str):
        return None
    said = (c.message for c in convert(output) if role_of(c.message) == "assistant")
    return "\n".join(text for text in map(reasoning_in, said) if text) or None
