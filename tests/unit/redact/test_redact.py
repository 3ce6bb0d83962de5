"""Secrets never survive redaction; everything else does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.spans import open_span
from trajscope.assemble import assemble
from trajscope.conventions import Reader
from trajscope.errors import UsageError
from trajscope.model.span import Json
from trajscope.redact import (
    PERSONAL,
    SECRETS,
    KeyRules,
    Redactor,
    TextPattern,
    redact_span,
    redact_trajectory,
)

REDACTOR = Redactor(secret=b"test")
KEYS = ("password", "api_key", "authToken", "http.request.header.cookie", "city", "max_tokens", "n")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


def shape(value: Json) -> Json:
    if isinstance(value, dict):
        return {k: shape(v) for k, v in value.items()}
    return [shape(v) for v in value] if isinstance(value, list) else "x"


@given(json_values)
def test_shape_stays_and_a_second_redaction_changes_nothing(value: Json) -> None:
    once = REDACTOR.value(value)
    assert shape(once) == shape(value)
    assert REDACTOR.value(once) == once


@given(st.text(max_size=200))
def test_text_without_a_secret_comes_back_as_it_was_or_is_masked_once(text: str) -> None:
    once = REDACTOR.text(text)
    assert REDACTOR.text(once) == once
    if "[REDACTED:" not in once:
        assert once == text


@given(
    secret=st.from_regex(r"[A-Za-z0-9]{12}CANARY[0-9]{4}", fullmatch=True),
    layers=st.integers(0, 3),
    key=st.sampled_from(["password", "x-api-key", "clientSecret", "aws_secret_access_key"]),
    wrap=st.sampled_from(["plain", "list", "header", "pair", "repr", "env"]),
)
def test_a_secret_is_found_wherever_it_hides(secret: str, layers: int, key: str, wrap: str) -> None:
    value: Json = {
        "plain": {key: secret},
        "list": {"a": [{key: [secret]}]},
        "header": {"headers": [{"name": key, "value": secret}]},
        "pair": [[key, secret]],
        "repr": str({key: secret}),
        "env": f"run --{key}={secret} now" if key == "password" else f"{key}={secret}",
    }[wrap]
    for _ in range(layers):
        value = {"text": json.dumps(value)}
    assert secret not in json.dumps(REDACTOR.value(value))


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abc123def456",
        "Cookie: sid=abc123; theme=dark",
        "postgres://user:abc123@host/db",
        "https://x.example/?a=1&access_token=abc123def",
        "AKIA" + "ABCDEFGHIJKLabc123".upper(),
        "ghp_" + "abc123" * 6,
        "xoxb-abc123-abc123",
        "sk-proj-abc123abc123abc123",
        "eyJhbGciOi.eyJabc123.abc123",
        "-----BEGIN RSA PRIVATE KEY-----\nabc123\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nabc123 cut of",
        '{"password": "abc123',
        '{\\"api_key\\": \\"abc123\\"}',
        "OPENAI_API_KEY=abc123",
        "mysql --password abc123",
    ],
)
def test_known_looks(text: str) -> None:
    redacted = REDACTOR.text(f"before {text} after")
    assert "abc123" not in redacted.lower()
    assert redacted.startswith("before ")
    assert "[REDACTED:" in redacted


@pytest.mark.parametrize(
    "text",
    [
        "the password is required",
        "password: please enter it twice",
        "Secretary Token, author of the token economy",
        "Basic understanding of bearer certificates",
        "sk-learn-something-very-long-name",
        "max_tokens=4096 token_count: 12",
        "next_page_token",
        "jane.roe@example.com 4111 1111 1111 1111",
    ],
)
def test_prose_stays(text: str) -> None:
    assert REDACTOR.text(text) == text


def test_harmless_values_of_keys_that_sound_secret_stay() -> None:
    value = {
        "max_tokens": 4096,
        "token": " the",
        "next_page_token": "CAUQAA1234567890",
        "author": "x",
        "password": None,
        "secret": True,
        "usage": {"input_tokens": 5, "token_count": 7},
        "passwords_checked": 12,
    }
    assert REDACTOR.value(value) == value


def test_one_secret_has_one_mask_and_another_key_another() -> None:
    found: Any = REDACTOR.value(
        {"password": "abc123xyz", "note": "Bearer abc123xyz", "pwd": "other1"}
    )
    mask = found["password"]
    assert found["note"] == f"Bearer {mask}"
    assert found["pwd"] != mask
    assert Redactor(secret=b"else").mask("abc123xyz") != mask


def test_json_text_keeps_its_form() -> None:
    text = '{"a": 1.0, "b": [true, null],"password":"abc"}'
    assert json.loads(REDACTOR.text(text)) | {"password": 0} == {
        "a": 1.0,
        "b": [True, None],
        "password": 0,
    }
    untouched = '{"a":   1e2, "b": "\\u00e9"}'
    assert REDACTOR.text(untouched) == untouched


def test_personal_data_only_when_asked() -> None:
    asked = Redactor(patterns=(*SECRETS, *PERSONAL), secret=b"test")
    text = "jane.roe@example.com paid with 4111 1111 1111 1111, order 4111 1111 1111 1112"
    redacted = asked.text(text)
    assert "jane" not in redacted
    assert "1111 1111 1111 1111" not in redacted
    assert "1111 1112" in redacted


def test_rules_of_ones_own() -> None:
    redactor = Redactor(
        keys=KeyRules(more=["*_pin", "re:iban|bic"], keep=["api_key"]),
        patterns=[TextPattern("staff", r"E-(\d{6})")],
        keep=["E-000000|000000"],
        secret=b"test",
    )
    found: Any = redactor.value(
        {"card_pin": 12, "IBAN": "DE1", "api_key": "k", "t": "E-123456 E-000000"}
    )
    assert found["card_pin"].startswith("[REDACTED:")
    assert found["IBAN"].startswith("[REDACTED:")
    assert found["api_key"] == "k"
    assert "123456" not in found["t"]
    assert "E-000000" in found["t"]


def test_a_malformed_pattern_is_told() -> None:
    with pytest.raises(UsageError, match="malformed"):
        Redactor(patterns=[TextPattern("x", "(")])
    with pytest.raises(UsageError, match="RE2"):
        Redactor(patterns=[TextPattern("x", "(a)\\1")])


def test_very_deep_values_and_hostile_texts_end_quickly() -> None:
    deep: Json = "password=abc123"
    for _ in range(20_000):
        deep = [deep]
    found: Any = REDACTOR.value(deep)
    for _ in range(20_000):
        found = found[0]
    assert "abc123" not in found
    for hostile in ("password=" * 20_000, "[" * 50_000 + "]" * 50_000, "eyJ." * 50_000):
        REDACTOR.text(hostile)


def test_spans_and_trajectories() -> None:
    span = open_span(
        1,
        None,
        0,
        end_ns=5,
        name="execute_tool login",
        attributes={
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "login",
            "gen_ai.tool.call.arguments": '{"user": {"password": "CANARY-1", "id": "u1"}}',
        },
    )
    assert "CANARY" not in repr(redact_span(span, REDACTOR))
    [trajectory] = assemble([span], Reader())
    redacted = redact_trajectory(trajectory, REDACTOR)
    assert "CANARY" in trajectory.model_dump_json()
    assert "CANARY" not in redacted.model_dump_json()
    [before], [after] = list(trajectory.walk()), list(redacted.walk())
    assert (after.name, after.span_id) == (before.name, before.span_id)
