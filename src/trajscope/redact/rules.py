"""Which keys hold a secret, whatever their value looks like.

One thing a newcomer would get wrong: keys are read word by word, so `authToken`, `auth-token` and
`http.request.header.auth_token` end in the same words, while `author` and `max_tokens` do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

from trajscope.redact._patterns import compile_re2, encodable

Kind = Literal["always", "opaque"]
"""How sure a key is: its value is masked always, or only when it looks made by a machine."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split("|"))


_ALWAYS = _words(
    "password|passwd|passphrase|passcode|pwd|secret|secrets|credential|credentials|"
    "authorization|cookie|cookies|cvv|cvc|apikey|apikeys|apitoken|authtoken|accesstoken|"
    "refreshtoken|secretkey|privatekey|clientsecret|api key|api keys|access key|"
    "secret key|private key|signing key|encryption key|master key|account key|"
    "shared access key|subscription key|service key|deploy key|ssh key|password hash|"
    "connection string|auth token|access token|refresh token|id token|session token|"
    "security token|bearer token|bearer|api token|csrf token|xsrf token|oauth token|"
    "sas token|otp|totp|mfa code|one time password|secret value|signature key"
)
"""Last words of keys whose values are always masked."""
_OPAQUE = _words("token|auth|signature|sig|jwt|session key|session cookie|sid|pat")
"""Last words of keys whose values are masked when they look made by a machine."""
_HARMLESS = _words(
    "page|next|prev|previous|continuation|continue|sync|resume|start|end|stop|pad|eos|bos|unk|"
    "sep|cls|mask|special|last|first|cursor|max|min|per|count"
)
"""Words before `token` that make it something else (`next_page_token`)."""
_MOST_WORDS = 4


class KeyRules:
    """Decides by its key whether a value is secret.

    more, keep: names of further keys that always are, and of keys that never are: exact, with `*`,
    or `re:`; letter case does not count. Both are held against the whole key and against its last
    part after a dot.
    """

    def __init__(
        self, *, defaults: bool = True, more: Iterable[str] = (), keep: Iterable[str] = ()
    ) -> None:
        self._defaults = defaults
        self._more = _compile(more)
        self._keep = _compile(keep)
        self._known: dict[str, Kind | None] = {}

    def kind(self, key: str) -> Kind | None:
        """Return how sure the key is of a secret; None for most keys.

        >>> rules = KeyRules(more=["*_pin"])
        >>> rules.kind("auth_token"), rules.kind("bank_pin"), rules.kind("githubToken")
        ('always', 'always', 'opaque')
        >>> rules.kind("max_tokens"), rules.kind("author"), rules.kind("next_page_token")
        (None, None, None)
        """
        if key in self._known:
            return self._known[key]
        found = self._decide(key)
        if len(self._known) < 10_000:  # keys are hostile too; beyond this they are worked out anew
            self._known[key] = found
        return found

    def _decide(self, key: str) -> Kind | None:
        names = {key, key.rpartition(".")[2]}
        if self._keep is not None and any(self._keep.fullmatch(encodable(n)) for n in names):
            return None
        if self._more is not None and any(self._more.fullmatch(encodable(n)) for n in names):
            return "always"
        return _default_kind(key) if self._defaults else None


def _default_kind(key: str) -> Kind | None:
    words = [word.lower() for word in _WORD.findall(key[-200:])]
    tails = [" ".join(words[-n:]) for n in range(1, min(_MOST_WORDS, len(words)) + 1)]
    before = words[-2] if len(words) > 1 else ""
    if any(tail in _ALWAYS for tail in tails):
        return "always"
    if any(tail in _OPAQUE for tail in tails) and before not in _HARMLESS:
        return "opaque"
    return None


def _compile(names: Iterable[str]) -> Any:
    parts = [n[3:] if n.startswith("re:") else _glob(n) for n in names]
    for part in parts:
        compile_re2(part)
    return compile_re2("(?is)" + "|".join(f"(?:{part})" for part in parts)) if parts else None


def _glob(name: str) -> str:
    return "".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in name)
