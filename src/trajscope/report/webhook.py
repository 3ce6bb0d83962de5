"""Findings as one POST to a webhook: JSON, with a time-out, tried again, over https or loopback.

One thing a newcomer would get wrong: redirects are not followed. An address that was checked may
send the findings on to one that was not.
"""

from __future__ import annotations

import ipaddress
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from trajscope.errors import ExportError, UsageError
from trajscope.report.text import safe_text

TIMEOUT_SECONDS = 10.0
TRIES = 3
_RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504})


def check_address(url: str, *, allow_plain: bool = False) -> str:
    """Return the address of a webhook if findings may be sent there.

    Raises:
        UsageError: it is no http address, or plain http to another machine and not allowed.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(f"--webhook is no address (got {url!r:.80}); https://… was expected")
    if parts.scheme == "http" and not _is_loopback(host) and not allow_plain:
        raise UsageError(
            f"--webhook would send findings unencrypted to {host}",
            hint="use https, or say --allow-plain-webhook",
        )
    return url


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        """Follow nothing; the answer then counts as a refusal."""
        del args, kwargs


def post(
    url: str, document: Mapping[str, Any], *, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Send a document, trying again after 1 and 2 seconds where that may help.

    Raises:
        ExportError: it was refused, or nobody answered in time.
    """
    data = json.dumps(document, allow_nan=False).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "trajscope"}
    opener = urllib.request.build_opener(_NoRedirect())
    host = urlsplit(url).hostname
    for number in range(TRIES):
        request = urllib.request.Request(url, data, headers, method="POST")  # noqa: S310
        try:
            with opener.open(request, timeout=TIMEOUT_SECONDS):
                return
        except urllib.error.HTTPError as error:
            why, again = f"answered {error.code}", error.code in _RETRIED
            error.close()
        except (OSError, HTTPException) as error:
            why, again = f"cannot be reached ({safe_text(str(error), 200)})", True
        if not again:
            break
        if number < TRIES - 1:
            sleep(2.0**number)
    raise ExportError(f"the webhook at {host} {why}; the findings were not delivered")
