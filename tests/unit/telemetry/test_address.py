"""Addresses and headers: where events go, and what of it may be shown."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajscope.errors import UsageError
from trajscope.telemetry._address import parse_address

SECRET = "s3cr3t-token"


@pytest.mark.parametrize(
    ("url", "protocol", "endpoint", "target"),
    [
        ("http://h:4318", "http", "http://h:4318/v1/logs", "http:http://h:4318/v1/logs"),
        ("http://h:4318/", "http", "http://h:4318/v1/logs", "http:http://h:4318/v1/logs"),
        ("https://h/api/otel/", "http", "https://h/api/otel/v1/logs", None),
        ("https://h/x/v1/logs", "http", "https://h/x/v1/logs", None),
        ("http://h:4317", "grpc", "http://h:4317", "grpc:http://h:4317"),
        ("https://[::1]:4317", "grpc", "https://[::1]:4317", None),
        (" http://h:4318?k=v ", "http", "http://h:4318/v1/logs?k=v", "http:http://h:4318/v1/logs"),
    ],
)
def test_an_address_says_where_and_how(
    url: str, protocol: str, endpoint: str, target: str | None
) -> None:
    address = parse_address(url)
    assert (address.protocol, address.endpoint) == (protocol, endpoint)
    assert target is None or address.target == target


def test_the_protocol_can_be_said() -> None:
    assert parse_address("http://h:9", protocol="grpc").endpoint == "http://h:9"
    assert parse_address("http://h:4317", protocol="http").endpoint == "http://h:4317/v1/logs"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:4318",
        "ftp://h",
        "http://",
        "http://h:port",
        "http://h:99999",
        "http://h:0",
        "http://[::1",
        "http://h/v1/traces",
        "http://h:4317/path",
        f"http://user:{SECRET}@h:4317",
        f"user:{SECRET}@h:4318",
        f"http://h:4317?key={SECRET}",
    ],
)
def test_what_is_no_address_is_refused_without_showing_credentials(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_address(url)
    assert "--otlp" in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("name", ["a b", "", "a:b", "ä"])
def test_a_name_that_is_no_header_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="--header"):
        parse_address("http://h", headers={name: SECRET})


@pytest.mark.parametrize("value", [f"{SECRET}\r\nX: 1", f"{SECRET}ä", f"{SECRET}\0"])
def test_a_value_that_cannot_be_sent_is_refused_and_not_shown(value: str) -> None:
    with pytest.raises(UsageError, match="'auth'") as caught:
        parse_address("http://h", headers={"Auth": value})
    assert SECRET not in str(caught.value)


def test_headers_of_the_environment_count_and_those_given_win(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=from%20env,other=1")
    found = parse_address("http://h", headers={"Other": "2"})
    assert found.headers == {"api-key": "from env", "other": "2"}
    assert "from env" in found.secrets
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "x=1")
    assert parse_address("http://h").headers == {"x": "1"}


TOKENS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=4, max_size=12)
WORDS = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=4, max_size=12)


@given(TOKENS, WORDS, WORDS, WORDS)
def test_no_credential_is_ever_shown(token: str, user: str, password: str, key: str) -> None:
    address = parse_address(
        f"https://{user}:{password}@h/p?key={key}", headers={"authorization": f"Bearer {token}"}
    )
    login = base64.b64encode(f"{user}:{password}".encode()).decode()
    for secret in (token, user, password, key, login):
        assert secret in address.secrets
        assert secret not in address.shown(f"<{secret}>").replace("***", "")
    assert address.target == "http:https://h/p/v1/logs"
