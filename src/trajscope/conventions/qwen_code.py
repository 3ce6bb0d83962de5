"""Qwen Code, made of Gemini CLI: the same log records under its own name.

One thing a newcomer would get wrong: it writes no spans; a session is one trace, made of records.
"""

from __future__ import annotations

from trajscope.conventions._gemini import Family, convention

CONVENTION = convention(
    "qwen-code",
    "Qwen Code: its log records.",
    Family(prefix="qwen-code.", agent="qwen-code"),
)
