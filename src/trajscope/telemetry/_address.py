"""Where events go: the address and headers a user gives, and what of them may be shown.

One thing a newcomer would get wrong: credentials hide in three places (the user part of an address,
its query, and headers), and a backend may repeat them in its answer. `Address.shown` covers them.
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, unquote, urlsplit

from opentelemetry.util.re import parse_env_headers

from trajscope.errors import UsageError

Protocol = Literal["http", "grpc"]

_PATH = "/v1/logs"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[ -~]*")
_SHORTEST_SECRET = 4
"""Shorter texts are not covered: covering an "a" everywhere would make messages unreadable."""


@dataclass(frozen=True, slots=True)
class Address:
    """A backend. endpoint: as the exporter needs it, secrets included; target: without them."""

    protocol: Protocol
    endpoint: str
    target: str
    headers: Mapping[str, str]
    secrets: tuple[str, ...]

    @property
    def place(self) -> str:
        """The address without secrets; the target without its protocol."""
        return self.target.removeprefix(f"{self.protocol}:")

    def shown(self, text: str) -> str:
        """Return text of a backend or library with every known secret covered."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text


def parse_address(
    url: str, *, protocol: Protocol | None = None, headers: Mapping[str, str] | None = None
) -> Address:
    """Return the address; the protocol is gRPC on port 4317 and HTTP elsewhere, if not given.

    To an HTTP address `/v1/logs` is added unless it ends so. Headers of the OTel environment
    variables count too, those given win.

    Raises:
        UsageError: it is no http or https address, or a header cannot be sent.
    """
    parts = _split(url)
    chosen = protocol or ("grpc" if parts.port == 4317 else "http")
    path = parts.path.rstrip("/")
    host = parts.netloc.rpartition("@")[2]
    if chosen == "http":
        if path.endswith(("/v1/traces", "/v1/metrics")):
            raise UsageError(
                f"--otlp: is an address for {path.rpartition('/')[2]} (got {_public(parts)})",
                hint="scores are log events: give the address without the last part",
            )
        path = path if path.endswith(_PATH) else path + _PATH
        endpoint = parts._replace(path=path, fragment="").geturl()
    else:
        if path or parts.query or parts.username:
            raise UsageError(
                f"--otlp: has more than a host and a port (got {_public(parts)}); "
                "gRPC takes no path, query or user",
                hint="use --protocol http, or --header for credentials",
            )
        endpoint = f"{parts.scheme}://{host}"
    known = {
        key.lower(): value for key, value in {**_from_environment(), **(headers or {})}.items()
    }
    _check(known)
    target = f"{chosen}:{parts.scheme}://{host}{path}"
    return Address(chosen, endpoint, target, known, _secrets(parts, known))


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        # Not shown: what is no address may hold credentials anywhere.
        raise UsageError(
            "--otlp: is no address; http://host:4318 or https://… was expected",
            hint="for gRPC: --otlp http://host:4317 --protocol grpc",
        )
    return parts


def _public(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _from_environment() -> dict[str, str]:
    names = ("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
    found = next((os.environ[name] for name in names if os.environ.get(name)), "")
    return dict(parse_env_headers(found, liberal=True))


def _check(headers: Mapping[str, str]) -> None:
    for key, value in headers.items():
        if not _TOKEN.fullmatch(key):
            raise UsageError(
                f"--header: {key!r:.40} is no name of a header; letters, digits and - were expected"
            )
        if not _VALUE.fullmatch(value):
            raise UsageError(
                f"--header: the value of {key!r:.40} has characters that cannot be sent; "
                "printable ASCII was expected"
            )


def _secrets(parts: SplitResult, headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return every text that must not be shown, longest first so that none leaves a rest."""
    found = {word for value in headers.values() for word in (value, *value.split())}
    user, password = parts.username or "", parts.password or ""
    login = f"{unquote(user)}:{unquote(password)}"
    found |= {user, password, unquote(user), unquote(password), parts.netloc.rpartition("@")[0]}
    found |= {base64.b64encode(login.encode()).decode(), parts.query}
    found |= {pair.partition("=")[2] for pair in parts.query.split("&")}
    known = (secret for secret in found if len(secret) >= _SHORTEST_SECRET)
    return tuple(sorted(known, key=lambda secret: (-len(secret), secret)))
