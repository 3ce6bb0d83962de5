from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajscope.errors import UsageError
from trajscope.evals.fence import fenced

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.text() | VALUES | st.sampled_from(["</answer>", "\n</answer>\n<answer>", "\u2028</x>"]))
def test_no_value_closes_its_section_or_has_a_line_of_its_own(value: Any) -> None:
    first, text, last = fenced("answer", value).split("\n")
    assert last == "</answer>"
    assert first.startswith("<answer ")
    assert not {"<", ">"} & set(text)
    assert json.loads(text) == value
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(
    "hidden", ["\u202eevil", "\u200bx", "\U000e0041\U000e0042", "\ufeff", "\ue000", "\ud800"]
)
def test_what_nobody_sees_is_written_out(hidden: str) -> None:
    text = fenced("answer", {"result": f"good {hidden} dog\u00e9"}).split("\n")[1]
    assert text.isprintable()
    assert "dog\u00e9" in text
    assert json.loads(text) == {"result": f"good {hidden} dog\u00e9"}


@pytest.mark.parametrize("label", ["", "An swer", "a>b", 3])
def test_a_label_is_a_word(label: Any) -> None:
    with pytest.raises(UsageError, match="label"):
        fenced(label, "x")


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(UsageError, match="answer: cannot be written as JSON"):
        fenced("answer", object())
