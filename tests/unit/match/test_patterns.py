"""Patterns of users run in linear time, and globs mean what they mean in a shell."""

from __future__ import annotations

import time
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajscope.errors import UsageError
from trajscope.match import compile_pattern, literal_pattern

GLOB = st.text("ab*?[]!^-\\.\n", min_size=1, max_size=8)
TEXT = st.text("ab[]!^-\\.\n", max_size=6)


@given(GLOB, TEXT)
def test_globs_are_those_of_fnmatch(glob: str, text: str) -> None:
    try:
        pattern = compile_pattern(glob)
    except UsageError as error:  # a range that runs backwards: an empty class for fnmatch
        assert "range" in str(error)
        return
    assert pattern.matches([text]) == (text == glob or fnmatchcase(text, glob))


@given(st.text(st.characters(), max_size=6))
def test_a_literal_pattern_matches_its_name_whatever_it_holds(name: str) -> None:
    assert compile_pattern(literal_pattern(name)).matches([name])


def test_names_with_lone_surrogates_match() -> None:
    assert compile_pattern("re:a.*").matches(["a\ud800b"])
    assert compile_pattern(literal_pattern("*\ud800")).matches(["*\ud800"])


@pytest.mark.parametrize("expression", ["(a+)+b", "(a|aa)*c", "(.*)*x", "(?:a?){50}a{50}b"])
def test_catastrophic_expressions_take_no_time(expression: str) -> None:
    pattern = compile_pattern(f"re:{expression}")
    start = time.perf_counter()
    assert not pattern.matches(["a" * 50_000])
    assert time.perf_counter() - start < 2


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("(a)\\1", "back-references"),
        ("(?=a)b", "look-around"),
        ("(?<!a)b", "look-around"),
        ("(?P<x>a)(?P=x)", "back-references"),
        ("a++", "possessive"),
        ("(?>a)", "atomic"),
        ("a\\Z", "the whole text"),
        ("(a", "quote special characters"),
        ("(a{1000}){1000}", "quote special characters"),
    ],
)
def test_what_is_not_linear_is_refused_and_says_why(expression: str, hint: str) -> None:
    with pytest.raises(UsageError, match="malformed") as caught:
        compile_pattern(f"re:{expression}")
    assert hint in (caught.value.hint or "")
