"""Masks secrets in values and texts, also in JSON inside texts, and never changes their shape.

One thing a newcomer would get wrong: the mask is a keyed hash, so that one secret has one mask and
can be followed through a report. Without `TRAJSCOPE_REDACT_KEY` the key is new for each process: a
plain hash of a password is found in any dictionary.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

from trajscope.model.span import Json
from trajscope.redact._patterns import (
    PERSONAL,
    SECRETS,
    TextPattern,
    compile_re2,
    encodable,
    is_opaque,
)
from trajscope.redact.rules import KeyRules, Kind

_MASK = re.compile(r"\[REDACTED:[0-9a-f]{10}\]")
_MASKS = re.compile(_MASK.pattern.encode())
_SCHEME = re.compile(r"(?i)(?:bearer|basic|token|digest|negotiate|apikey)[ \t]+")
_LAYERS = 6
"""JSON texts inside JSON texts that are opened; each layer doubles the escapes."""
_HEADER_NAMES = ("name", "key", "header", "k")
_HEADER_VALUES = ("value", "val", "v", "values")


def unkeyed(text: bytes) -> bytes:
    """Return a text in which masks are alike, whatever key made them.

    >>> unkeyed(b"by [REDACTED:c9a44af6c8]")
    b'by [REDACTED]'
    """
    return _MASKS.sub(b"[REDACTED]", text) if b"[REDACTED:" in text else text


class Redactor:
    """Masks secrets; the defaults cover what `docs/redaction.md` lists.

    keys: whose values are masked by name. patterns: what is masked inside texts. keep: expressions;
    a text that one matches as a whole is never masked. secret: the key of the masks.
    """

    def __init__(
        self,
        *,
        keys: KeyRules | None = None,
        patterns: Sequence[TextPattern] = SECRETS,
        keep: Iterable[str] = (),
        secret: bytes | None = None,
    ) -> None:
        self._keys = keys or KeyRules()
        self._patterns = [(compile_re2(p.expression), p.sure) for p in patterns]
        every = "|".join(f"(?:{p.expression})" for p in patterns)
        self._any = compile_re2(every) if every else None
        kept = "|".join(f"(?:{k})" for k in keep)
        self._keep = compile_re2(f"(?s){kept}") if kept else None
        self._secret = secret if secret is not None else _process_secret()

    def text(self, text: str) -> str:
        """Return a text with the secrets in it masked; a text that is JSON is redacted as JSON.

        >>> Redactor(secret=b"k").text("curl -H 'Authorization: Bearer abc123def456'")
        "curl -H 'Authorization: Bearer [REDACTED:c9a44af6c8]'"
        """
        return self._text(text, _LAYERS)

    def value(self, value: Json) -> Json:
        """Return a JSON value with the secrets in it masked; equal shape, keys and order.

        >>> Redactor(secret=b"k").value({"max_tokens": 5, "password": None, "to": ["a", "b"]})
        {'max_tokens': 5, 'password': None, 'to': ['a', 'b']}
        """
        return self._value(value, _LAYERS)

    def mask(self, secret: str) -> str:
        """Return what stands for a secret: equal for equal secrets, else different."""
        data = secret.encode("utf-8", "surrogatepass")
        return f"[REDACTED:{hmac.digest(self._secret, data, hashlib.sha256).hex()[:10]}]"

    def _value(self, value: Json, layers: int, kind: Kind | None = None) -> Json:
        """Walk without recursion: recorded values may be deeper than the interpreter's stack."""
        top: list[Json] = [value]
        todo: list[tuple[Any, Any, Kind | None]] = [(top, 0, kind)]
        while todo:
            holder, at, how = todo.pop()
            item = holder[at]
            if isinstance(item, dict):
                named = _named_value(item)
                copied = {
                    (self._text(k, 0) if isinstance(k, str) else k): v for k, v in item.items()
                }
                if len(copied) != len(item):  # two keys became one; a lost value is worse
                    copied = dict(item)
                holder[at] = copied
                for key in copied:
                    inner = how or (self._keys.kind(key) if isinstance(key, str) else None)
                    if named is not None and key in named[1]:
                        inner = inner or self._keys.kind(named[0])
                    todo.append((copied, key, inner))
            elif isinstance(item, list | tuple):
                elements = list(item)
                holder[at] = elements
                pair = _is_pair(elements)
                for index in range(len(elements)):
                    inner = how
                    if pair and index == 1:
                        inner = inner or self._keys.kind(elements[0])
                    todo.append((elements, index, inner))
            else:
                holder[at] = self._scalar(item, how, layers)
        return top[0]

    def _scalar(self, value: Json, kind: Kind | None, layers: int) -> Json:
        if isinstance(value, str):
            return self._secret_text(value, kind, layers) if kind else self._text(value, layers)
        if kind == "always" and isinstance(value, int | float) and not isinstance(value, bool):
            return self.mask(str(value))
        return value

    def _secret_text(self, text: str, kind: Kind, layers: int) -> str:
        """Mask the text of a secret key: all of it, but for the scheme of a header."""
        if not text.strip() or _MASK.fullmatch(text) or self._is_kept(text):
            return text
        opened = _opened(text) if layers else None
        if isinstance(opened, dict | list):
            return _closed(self._value(opened, layers - 1, kind), opened, text)
        if kind == "opaque" and not (is_opaque(text) or (len(text) >= 24 and " " not in text)):
            return self._text(text, layers)
        scheme = _SCHEME.match(text)
        start = scheme.end() if scheme else 0
        secret = text[start:]
        return text if _MASK.fullmatch(secret) else text[:start] + self.mask(secret)

    def _text(self, text: str, layers: int) -> str:
        if len(text) < 6 or self._is_kept(text):
            return text
        if layers and (opened := _opened(text)) is not None:
            return _closed(self._value(opened, layers - 1), opened, text)
        matched = encodable(text)
        if self._any is None or self._any.search(matched) is None:
            return text
        spans = sorted(self._spans(matched))
        out, end = [], 0
        for start, stop in spans:
            if start < end:  # inside what is masked already
                continue
            out += [text[end:start], self.mask(text[start:stop])]
            end = stop
        return "".join([*out, text[end:]])

    def _spans(self, text: str) -> Iterable[tuple[int, int]]:
        """Yield where secrets stand; of two that overlap the first and longest is masked."""
        for pattern, sure in self._patterns:
            for match in pattern.finditer(text):
                group = match.re.groups
                found = match.group(group)
                if found is None or found.startswith("[REDACTED:") or self._is_kept(found):
                    continue
                if sure is None or sure(found):
                    yield match.span(group)

    def _is_kept(self, text: str) -> bool:
        return self._keep is not None and self._keep.fullmatch(encodable(text)) is not None


def _named_value(item: dict[Any, Json]) -> tuple[str, tuple[str, ...]] | None:
    """Return the name in `{"name": "Cookie", "value": …}` and the keys of its value, else None."""
    for name in _HEADER_NAMES:
        if isinstance(item.get(name), str):
            values = tuple(v for v in _HEADER_VALUES if v in item)
            if values:
                return item[name], values
    return None


def _is_pair(elements: list[Json]) -> bool:
    """Whether a list is a header as `[name, value]`."""
    return len(elements) == 2 and isinstance(elements[0], str) and isinstance(elements[1], str)


def _opened(text: str) -> Json:
    """Return the value of a JSON text that holds an object, a list or a text; None for others."""
    bare = text.strip()
    if bare[:1] not in ("{", "[", '"') or bare[-1:] not in ("}", "]", '"'):
        return None
    try:
        return json.loads(bare)
    except (ValueError, RecursionError):
        return None


def _closed(redacted: Json, opened: Json, text: str) -> str:
    """Return the redacted value as text; the very same text when nothing was masked."""
    try:
        if redacted == opened:
            return text
        compact = ": " not in text and ", " not in text
        return json.dumps(
            redacted, ensure_ascii=text.isascii(), separators=(",", ":") if compact else None
        )
    except RecursionError:
        return '"[REDACTED: nested too deeply]"'


@cache
def _process_secret() -> bytes:
    given = os.environ.get("TRAJSCOPE_REDACT_KEY")
    return given.encode("utf-8", "surrogateescape") if given else secrets.token_bytes(16)


@cache
def default_redactor(*, personal: bool = False) -> Redactor:
    """Return the redactor of whatever leaves when nothing else was said."""
    return Redactor(patterns=(*SECRETS, *PERSONAL) if personal else SECRETS)
