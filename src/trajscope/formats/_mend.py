r"""Turns JSON as careless writers leave it into JSON, keeping what it says.

One thing a newcomer would get wrong: half a surrogate pair (`\ud83d`, text cut inside an emoji) is
legal JSON, yet no Unicode text, and decoders report it as a cut document. `NaN` and `Infinity` are
no JSON at all, yet Python's `json.dumps` writes them.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|-?\b(?:NaN|Infinity)\b', re.DOTALL)
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\.",
    re.DOTALL,
)
_HALF_LENGTH = 6


def mended(text: bytes) -> bytes | None:
    r"""Return `text` with NaN and infinities as null and half surrogate pairs as U+FFFD.

    None if there is nothing to mend. The text may be any part of a document that starts and ends
    outside of strings.

    >>> mended(b'{"a": NaN, "b": "NaN \\ud83d"}')
    b'{"a": null, "b": "NaN \\ufffd"}'
    >>> mended(b'{"a": "\\ud83d\\ude00"}') is None
    True
    """
    if not (b"NaN" in text or b"Infinity" in text or b"\\ud" in text or b"\\uD" in text):
        return None
    better = _TOKEN.sub(_mended_token, text)
    return None if better == text else better


def _mended_token(found: re.Match[bytes]) -> bytes:
    token = found[0]
    if not token.startswith(b'"'):
        return b"null"
    return _ESCAPE.sub(_mended_escape, token) if b"\\u" in token else token


def _mended_escape(found: re.Match[bytes]) -> bytes:
    return b"\\ufffd" if len(found[0]) == _HALF_LENGTH else found[0]
