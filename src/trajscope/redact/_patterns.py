"""What secrets look like inside a text, and how sure each look is.

One thing a newcomer would get wrong: RE2 has no look-around, so what a pattern cannot say (is this
word opaque? does the card number check?) is said by its `sure` function on what was found.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import re2  # type: ignore[import-untyped]

from trajscope.errors import UsageError

_SURROGATES = re.compile("[\ud800-\udfff]")
_DIGIT = re.compile(r"[0-9]")
_NOT_LETTER = re.compile(r"[^A-Za-z]")


def encodable(text: str) -> str:
    """Return a text without lone surrogates, as long as before; UTF-8 has no place for them."""
    return text if text.isascii() else _SURROGATES.sub("�", text)


def compile_re2(expression: str) -> Any:
    """Return an expression of the linear-time engine.

    Raises:
        UsageError: RE2 does not know it.
    """
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(encodable(expression), options)
    except re2.error as error:
        why = error.args[0] if error.args else error
        why = why.decode() if isinstance(why, bytes) else why
        raise UsageError(
            f"the pattern is malformed (got {expression!r:.80}): {why}",
            hint="patterns run on RE2: no back-references, no look-around",
        ) from error


def is_opaque(text: str) -> bool:
    """Whether a word looks made by a machine: long, no blank, letters and digits mixed.

    >>> is_opaque("hunter2-hunter2"), is_opaque("understanding"), is_opaque("a b 1 2 3 4 5 6")
    (True, False, False)
    """
    return len(text) >= 8 and bool(_DIGIT.search(text)) and not any(c.isspace() for c in text)


def _is_assigned(found: str) -> bool:
    """Whether what follows a key word is more than a plain word of prose."""
    return not found.isalpha()


def _is_base64_login(found: str) -> bool:
    return bool(_NOT_LETTER.search(found)) or not (found.islower() or found.istitle())


def passes_luhn(text: str) -> bool:
    """Whether the digits of a text have a card number's check digit.

    >>> passes_luhn("4111 1111 1111 1111"), passes_luhn("4111 1111 1111 1112")
    (True, False)
    """
    digits = [int(c) for c in text if "0" <= c <= "9"]
    if not 13 <= len(digits) <= 19:
        return False
    doubled = [d * 2 - 9 * (d > 4) for d in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


class TextPattern(NamedTuple):
    """One kind of secret in a text: the last group of the expression is what is masked."""

    name: str
    expression: str
    sure: Callable[[str], bool] | None = None


_KEY = (
    r"(?:pass(?:word|wd|phrase|code)?|pwd|secret|api[_-]?key|apikey|access[_-]?key|account[_-]?key|"
    r"shared[_-]?access[_-]?key|secret[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|"
    r"client[_-]?secret|secret[_-]?access[_-]?key|"
    r"(?:access|auth|refresh|id|session|bearer|api|csrf|xsrf|security|oauth|github|gitlab|slack|"
    r"bot|personal[_-]?access)[_-]?token)"
)
_LEFT = r"(?:^|[^A-Za-z0-9])"

SECRETS: tuple[TextPattern, ...] = (
    TextPattern(
        "private_key",
        r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]|-[^-])*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|-*\z))",
    ),
    TextPattern("jwt", r"\b(eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3})"),
    TextPattern("bearer", r"(?i)\bbearer[ \t]+([A-Za-z0-9._~+/=|:-]{6,})", _is_assigned),
    TextPattern("basic", r"(?i)\bbasic[ \t]+([A-Za-z0-9+/_-]{8,}={0,2})", _is_base64_login),
    TextPattern(
        "header",
        r"(?im)\b(?:proxy-)?authorization[\"']?[ \t]*[:=][ \t]*\\*[\"']?"
        r"(?:(?:bearer|basic|token|digest|negotiate|apikey)[ \t]+)?([^\s\"'\\,;]{6,})",
        lambda found: not found.isalpha() or len(found) > 20,
    ),
    TextPattern("cookie", r"(?im)\b(?:set-)?cookie2?[ \t]*:[ \t]*([^\r\n=\"']+=[^\r\n\"']*)"),
    TextPattern("url_login", r"://[^/\s:@\"'<>?#]*:([^/\s@\"'<>]+)@"),
    TextPattern(
        "query",
        r"(?i)[?&](?:x-amz-(?:signature|credential|security-token)|signature|sig|token|key|auth|"
        r"code|password|passwd|pwd|secret|api[_-]?key|[a-z_]{0,30}(?:token|secret|api_?key))="
        r"([^&#\s\"'<>\\]{6,})",
        lambda found: not found.isalpha() or len(found) > 20,
    ),
    # key="value", 'key': 'value', and either with its quotes escaped, whole or cut off.
    TextPattern(
        "quoted",
        rf"(?i){_LEFT}[a-z0-9_-]*{_KEY}\\*[\"']?\s*[:=]\s*\\*[\"']([^\"'\\]+)",
    ),
    TextPattern("assigned", rf"(?i){_LEFT}[a-z0-9_-]*{_KEY}=([^\s\"'&,;\\}}\])]{{3,}})"),
    TextPattern("told", rf"(?i){_LEFT}{_KEY}:[ \t]*([^\s\"'&,;\\}}\])]{{6,}})", is_opaque),
    TextPattern(
        "flag",
        rf"(?i)(?:^|\s)--?{_KEY}[ =]([^\s\"']{{3,}})",
    ),
    TextPattern(
        "aws_key", r"\b((?:AKIA|ASIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{12,})\b"
    ),
    TextPattern("github", r"\b(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    TextPattern("gitlab", r"\b(gl(?:pat|ptt|dt|rt|cbt|soat)-[A-Za-z0-9_-]{16,})"),
    TextPattern("slack", r"\b(xox[abcdeprs]-[A-Za-z0-9-]{8,}|xapp-[A-Za-z0-9-]{8,})"),
    TextPattern("slack_hook", r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/_-]{16,})"),
    TextPattern("sk", r"\b(sk-[A-Za-z0-9_-]{16,})", is_opaque),
    TextPattern(
        "stripe", r"\b((?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9]{16,})"
    ),
    TextPattern("google", r"\b(AIza[0-9A-Za-z_-]{30,}|ya29\.[0-9A-Za-z_-]{16,})"),
    TextPattern(
        "vendor",
        r"\b(hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{40,}|gsk_[A-Za-z0-9]{20,}"
        r"|xai-[A-Za-z0-9]{20,}|pplx-[A-Za-z0-9]{20,}|dop_v1_[a-f0-9]{40,}|hv[bs]\.[A-Za-z0-9_-]{20,}"
        r"|dapi[a-f0-9]{32}|lsv2_(?:pt|sk)_[A-Za-z0-9_]{20,}|tvly-[A-Za-z0-9-]{16,}"
        r"|r8_[A-Za-z0-9]{30,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,})",
    ),
    TextPattern("telegram", r"\b([0-9]{8,10}:AA[A-Za-z0-9_-]{30,})"),
)
"""Secrets in texts, the default."""

PERSONAL: tuple[TextPattern, ...] = (
    TextPattern(
        "email", r"\b([A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})\b"
    ),
    TextPattern("card", r"\b([3-6](?:[ -]?[0-9]){12,18})\b", passes_luhn),
)
"""E-mail addresses and card numbers; masked only when asked for."""
