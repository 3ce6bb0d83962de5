"""Gemini CLI: its log records, and its spans where tracing is on.

One thing a newcomer would get wrong: a run is many traces; the session's id holds them together.
"""

from __future__ import annotations

from trajscope.conventions._gemini import Family, convention

CONVENTION = convention(
    "gemini-cli",
    "Gemini CLI: its log records, and its spans where tracing is on.",
    Family(prefix="gemini_cli.", agent="gemini-cli"),
)
