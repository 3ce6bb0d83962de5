"""Text for terminals: escaping of trace content, durations, counts.

One thing a newcomer would get wrong: everything that comes from a trace passes `safe_text` on its
way to a terminal or a pipe, names and ids too; JSON output instead keeps the exact text.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def safe_text(text: str, limit: int | None = None) -> str:
    r"""Return `text` on one line without control, bidirectional or invisible characters.

    >>> safe_text("clear\x1b[2Kscreen")
    'clear\\x1b[2Kscreen'
    >>> safe_text("a\nb", limit=10), safe_text("abcdef", limit=4)
    ('a\\nb', 'abc…')
    """
    text = text if limit is None else text[: limit + 1]
    shown = _UNSAFE.sub(_visible, text)
    return shown if limit is None or len(shown) <= limit else shown[: limit - 1] + "…"


def _visible(match: re.Match[str]) -> str:
    char = match[0]
    known = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char)
    code = ord(char)
    return known or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def duration_text(ms: float | None) -> str:
    """Return a duration for people; "?" when unknown.

    >>> duration_text(0.18), duration_text(2345.0), duration_text(125_000), duration_text(None)
    ('0.18 ms', '2.35 s', '2 min 5 s', '?')
    """
    if ms is None:
        return "?"
    if ms < 1000:
        return f"{ms:.3g} ms" if ms < 100 else f"{ms:.0f} ms"
    if ms < 60_000:
        return f"{ms / 1000:.3g} s"
    minutes, seconds = divmod(round(ms / 1000), 60)
    return f"{minutes} min {seconds} s"


def time_text(time_ns: int | None) -> str:
    """Return a time for people, UTC, to the second; "?" when unknown or beyond the calendar.

    >>> time_text(1_772_528_400_000_000_000), time_text(None), time_text(2**70)
    ('2026-03-03 09:00:00', '?', '?')
    """
    if time_ns is None:
        return "?"
    try:
        moment = datetime.fromtimestamp(time_ns // 1_000_000_000, UTC)
    except (OverflowError, ValueError, OSError):
        return "?"
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def bytes_text(count: int) -> str:
    """Return a size for people, in powers of 1000.

    >>> bytes_text(999), bytes_text(1_500_000), bytes_text(2 * 10**12)
    ('999 B', '1.5 MB', '2,000.0 GB')
    """
    if count < 1000:
        return f"{count} B"
    size = count / 1000
    for unit in ("kB", "MB"):
        if size < 1000:
            return f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} GB"


def count_text(count: float | None, *, at_least: bool = False) -> str:
    """Return a count for people; "?" when unknown, "≥" in front when it is a lower bound.

    >>> count_text(1234), count_text(None), count_text(300, at_least=True)
    ('1,234', '?', '≥300')
    """
    if count is None:
        return "?"
    return f"{'≥' if at_least else ''}{count:,}"


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return the count with its word.

    >>> plural(1, "trace"), plural(2, "trace"), plural(0, "retry", "retries")
    ('1 trace', '2 traces', '0 retries')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def safe_lines(text: str) -> str:
    r"""Return `text` made safe line by line; for messages that have lines of their own.

    >>> safe_lines("one\ntwo\x07")
    'one\ntwo\\x07'
    """
    return "\n".join(safe_text(line) for line in text.split("\n"))
