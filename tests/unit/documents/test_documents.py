from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajscope.documents import parse_document, read_document, validate
from trajscope.errors import UsageError
from trajscope.model.expectation import TrajectoryExpectation

BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 10)}]\n"
    for old, new in zip("abcdefg", "bcdefgh", strict=True)
)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", None, "is empty"),
        ("# nothing\n", None, "is empty"),
        ("a: 1\nb: 2\na: 3\n", 3, "'a' stands twice"),
        ("a: [1, 2\nb: 3\n", 2, "is no YAML"),
        ("a: 1\n\tb: 2\n", 2, "is no YAML"),
        ("--- 1\n--- 2\n", 2, "several documents"),
        ("a: !!python/object:os.system x\n", 1, "uses the tag"),
        ("a: !own {b: 1}\n", 1, "uses the tag"),
        (BOMB, 6, "more than"),
        ("&a [*a]", 1, "nested more than"),
        ("[" * 50_000, None, "nested too deeply"),
        ("[" * 200 + "]" * 200, 1, "nested more than"),
        ("a: .inf\n", 1, "no finite number"),
        ("? [1, 2]\n: 3\n", 1, "no key"),
        ("a: *unknown\n", 1, "is no YAML"),
        ("<<: 3\n", 1, "merges no mapping"),
    ],
)
def test_what_is_wrong_with_a_yaml_text(text: str, line: int | None, said: str) -> None:
    with pytest.raises(UsageError, match=said) as caught:
        parse_document(text, "e.yaml")
    at = caught.value.at
    assert at is not None
    assert (at.path, at.line) == ("e.yaml", line)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no JSON"),
        ('{"a": 1, "a": 2}', "stands twice"),
        ('{"a": NaN}', "no JSON number"),
        ("{'a': 1}", "is no JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_wrong_with_a_json_text(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_document(text, "e.json")


def test_values_keep_their_types() -> None:
    text = "a: 1\nb: 1.5\nc: yes\nd: true\ne: 2026-01-02\nf: null\ng: '1'\nh: 010\n"
    assert parse_document(text).value == {
        "a": 1, "b": 1.5, "c": "yes", "d": True, "e": "2026-01-02", "f": None, "g": "1", "h": 10,
    }  # fmt: skip


def test_merge_keys_and_aliases_are_resolved() -> None:
    text = "base: &b {x: 1, y: 2}\nown: {<<: *b, y: 3}\nboth: {<<: [*b, {z: 4}]}\n"
    value = parse_document(text).value
    assert value["own"] == {"x": 1, "y": 3}
    assert value["both"] == {"x": 1, "y": 2, "z": 4}


@pytest.mark.parametrize("indent", ["  ", "\t"])
def test_json_has_line_numbers_too(indent: str) -> None:
    text = f'{{\n{indent}"ordering":\n{indent}"strct"\n}}'
    document = parse_document(text, "e.json")
    with pytest.raises(UsageError) as caught:
        validate(TrajectoryExpectation, document, document.value)
    at = caught.value.at
    assert at is not None
    assert (at.line, at.key) == (2, "ordering")


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("max_step: 3", "e.yaml:1:1 (max_step)", "did you mean max_steps?"),
        ("maxStep: 3", "e.yaml:1:1 (maxStep)", "did you mean maxSteps?"),
        ("MaxSteps: 3", "e.yaml:1:1 (MaxSteps)", "did you mean maxSteps?"),
        ("ordering: Relaxd", "e.yaml:1:1 (ordering)", "did you mean relaxed?"),
        (
            "steps:\n- name: a\n  tolArgs: {}",
            "e.yaml:3:3 (steps[0].tolArgs)",
            "did you mean toolArgs?",
        ),
        (
            "steps:\n- name: a\n  children:\n    maxSteps: 1\n    ordring: strict",
            "e.yaml:5:5 (steps[0].children.ordring)",
            "did you mean ordering?",
        ),
    ],
)
def test_a_near_miss_is_named(text: str, place: str, hint: str) -> None:
    document = parse_document(text, "e.yaml")
    with pytest.raises(UsageError) as caught:
        validate(TrajectoryExpectation, document, document.value)
    assert str(caught.value.at) == place
    assert caught.value.hint == hint


def test_all_mistakes_are_told_in_the_order_of_the_file() -> None:
    document = parse_document("maxSteps: -1\nsteps: 3\nfoo: 1\nallowRepeatedSteps: maybe", "e.yaml")
    with pytest.raises(UsageError) as caught:
        validate(TrajectoryExpectation, document, document.value)
    lines = str(caught.value).splitlines()
    assert [line.split(" ")[0] for line in lines[:4]] == [
        "e.yaml:1:1", "e.yaml:2:1", "e.yaml:3:1", "e.yaml:4:1",
    ]  # fmt: skip
    assert "(got -1); at least 0" in lines[0]
    assert "(got 3); a list was expected" in lines[1]


@pytest.mark.parametrize(
    ("content", "said"), [(b"\xff\xfe\x00a", "no UTF-8"), (b"a: \xc3\x28", "no UTF-8")]
)
def test_bytes_that_are_no_text(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "e.yaml"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=said):
        read_document(path)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be read \(No such file"):
        read_document(tmp_path / "gone.yaml")
    with pytest.raises(UsageError, match="is a directory"):
        read_document(tmp_path)


@pytest.mark.parametrize("key", ["0[", "a[b]", "list[int]", "function-before", "x-"])
def test_an_unknown_key_is_named_whatever_it_looks_like(key: str) -> None:
    document = parse_document(f"{json.dumps(key)}: 1", "e.yaml")
    with pytest.raises(UsageError, match="is unknown") as caught:
        validate(TrajectoryExpectation, document, document.value)
    assert repr(key) in str(caught.value)


@given(st.text(max_size=60) | st.text("[]{}:,-&*!|>'\"#%@` \n\tab1", max_size=30))
def test_no_text_makes_anything_but_a_value_or_a_usage_error(text: str) -> None:
    for name in ("e.yaml", "e.json"):
        try:
            document = parse_document(text, name)
            validate(TrajectoryExpectation, document, document.value)
        except UsageError as error:
            assert error.at is not None
            assert error.at.path == name
