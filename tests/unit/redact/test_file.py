"""Redaction files: what they add, and how mistakes in them are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from trajscope.errors import UsageError
from trajscope.pipeline.redaction import load_redactor


def test_a_file_adds_to_the_defaults(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(
        "keys: ['*_pin']\nkeepKeys: [session_token]\npatterns: {staff: 'E-\\d{6}'}\n"
        "keep: ['E-000000']\npersonal: true\n"
    )
    found: Any = load_redactor(file).value(
        {
            "card_pin": 1234,
            "session_token": "abc123abc123",
            "password": "x1",
            "note": "E-123456 E-000000 jane@example.com",
        }
    )
    assert found["card_pin"].startswith("[REDACTED:")
    assert found["session_token"] == "abc123abc123"
    assert found["password"].startswith("[REDACTED:")
    assert "123456" not in found["note"]
    assert "E-000000" in found["note"]
    assert "jane" not in found["note"]


def test_defaults_can_be_dropped(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text("defaults: false\n")
    assert load_redactor(file).value({"password": "x1"}) == {"password": "x1"}


def test_the_environment_names_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "r.yaml"
    file.write_text("keys: [city]\n")
    monkeypatch.setenv("TRAJSCOPE_REDACT", str(file))
    assert load_redactor().value({"city": "Faro"}) != {"city": "Faro"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("patterns: {x: '('}", "patterns.x"),
        ("keep: ['a', '(?=x)']", r"keep\[1\]"),
        ("keys: ['re:[']", r"keys\[0\]"),
        ("kees: [x]", "unknown"),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(text + "\n")
    with pytest.raises(UsageError, match=said) as caught:
        load_redactor(file)
    assert f"{file}:1" in str(caught.value)
