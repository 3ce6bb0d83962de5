"""Mapping files: what their rules make of spans, and how mistakes in them are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from tests.support.spans import span, span_values
from trajscope.assemble import assemble
from trajscope.conventions import Reader, conventions, load_mapping
from trajscope.conventions._map_file import read_map_file
from trajscope.conventions._mapping import MappingConvention
from trajscope.errors import UsageError
from trajscope.model.reading import Reading, StepType
from trajscope.model.span import Json, Span


def mapping(tmp_path: Path, text: str, name: str = "acme.yaml") -> MappingConvention:
    file = tmp_path / name
    file.write_text(text, "utf-8")
    return load_mapping(file)


def rule(tmp_path: Path, match: str, as_: str, fields: str = "{}") -> MappingConvention:
    text = f"version: 1\nspans:\n  - match: {match}\n    as: {as_}\n    fields: {fields}\n"
    return mapping(tmp_path, text)


def read(found: MappingConvention, attributes: dict[str, Json], name: str = "op") -> Reading:
    return Reader((found,))(span(1, name=name, attributes=attributes))


TOOL = "{attributes: {acme.op: invoke}}"


@pytest.fixture(scope="module")
def broad(tmp_path_factory: pytest.TempPathFactory) -> MappingConvention:
    """Rules over names the strategies draw, with every form of source."""
    text = """
version: 1
spans:
  - match: {name: "re:.*[a-m].*"}
    as: tool_call
    fields:
      name: {span_name: "re:(.).*"}
      args: [a, {attribute: b, path: 0.x}, {literal: {k: 1}}]
      result: {attribute: c, path: y}
      failed_when: {a: {exists: true}, b: 1}
      failure: c
  - match: {attributes: {a: {exists: false}, b: {exists: true}}}
    as: model_generation
    fields: {model: b, input_tokens: c, output_tokens: {attribute: b, path: n}}
  - match: {scope: "?*"}
    as: noise
"""
    return mapping(tmp_path_factory.mktemp("map"), text)


names = st.sampled_from(("a", "b", "c"))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(("", "x", '{"y": [1]}')),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyn"), inner),
    max_leaves=4,
)


@st.composite
def drawn_spans(draw: st.DrawFn) -> Span:
    drawn = draw(span_values(rich=False))
    attributes = draw(st.dictionaries(names, values))
    scope = draw(st.sampled_from(("", "acme")))
    return span(drawn.span_id, name=drawn.name, attributes=attributes, scope_name=scope)


@settings(max_examples=50)
@given(drawn_spans())
def test_a_mapping_reads_what_it_matches_and_leaves_the_rest_alone(
    broad: MappingConvention, drawn: Span
) -> None:
    reading = Reader((broad,))(drawn)
    if broad.claim(drawn) == 0:
        assert reading == Reader()(drawn)
    else:
        assert 101 <= broad.claim(drawn) == reading.claim <= 103
        assert reading.convention == "map:acme"
        assert reading.step_type is not None or reading.noise_reason


def test_the_first_rule_that_matches_counts(tmp_path: Path) -> None:
    found = mapping(
        tmp_path,
        """
version: 1
spans:
  - {match: {name: "tool *"}, as: tool_call, fields: {name: {span_name: "re:tool (.+)"}}}
  - {match: {name: "*"}, as: noise}
""",
    )
    assert read(found, {}, "tool refund").name == "refund"
    assert read(found, {}, "a tool").noise_reason == "noise by rule 2 of acme"


def test_a_mapping_outweighs_every_convention(tmp_path: Path) -> None:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "add"}
    found = rule(tmp_path, "{attributes: {gen_ai.operation.name: execute_tool}}", "retrieval")
    assert read(found, attributes).step_type is StepType.RETRIEVAL
    assert all(getattr(c, "tier", 0) < found.tier for c in conventions().values())


def test_every_form_of_source(tmp_path: Path) -> None:
    fields = """{
      name: {literal: refund},
      args: {attribute: acme.call, path: input.args},
      result: [acme.none, acme.answer],
      tool_call_id: acme.id,
      agent: {span_name: "re:(.+)/.*"},
      session_id: {span_name: true}}"""
    found = rule(tmp_path, TOOL, "tool_call", fields)
    attributes: dict[str, Json] = {
        "acme.op": "invoke",
        "acme.call": '{"input": {"args": {"id": 7}}}',
        "acme.answer": "done",
        "acme.id": "c1",
    }
    reading = read(found, attributes, "clerk/7")
    assert (reading.name, reading.args, reading.result) == ("refund", {"id": 7}, "done")
    assert (reading.tool_call_id, reading.agent_name) == ("c1", "clerk")
    assert reading.session_id == "clerk/7"
    assert reading.sources["args"] == "acme.call at input.args"
    assert reading.sources["result"] == "acme.answer"
    assert reading.sources["name"] == "literal name in acme"
    assert reading.sources["agent_name"] == "span name (re:(.+)/.*)"


def test_what_is_not_there_stays_unknown(tmp_path: Path) -> None:
    fields = "{args: acme.args, result: {attribute: acme.out, path: a.9}, input_tokens: acme.n}"
    found = rule(tmp_path, TOOL, "tool_call", fields)
    reading = read(found, {"acme.op": "invoke", "acme.out": '{"a": [1]}', "acme.n": "many"})
    assert (reading.args, reading.result, reading.usage) == (UNSET, UNSET, None)
    assert (reading.failed, reading.tool_call_id) == (None, None)


CALL: dict[str, Json] = {"acme.op": "invoke"}


@pytest.mark.parametrize(
    ("attributes", "failed", "failure"),
    [
        ({"acme.ok": False, "acme.why": "too late"}, True, "too late"),
        ({"acme.ok": False}, True, None),
        ({"acme.ok": True, "acme.why": "a remark"}, None, None),
        ({"acme.ok": 0}, None, None),  # as JSON, 0 is not false
        ({}, None, None),
    ],
)
def test_failed_when_says_so_all_of_it_holds(
    tmp_path: Path, attributes: dict[str, Json], failed: bool | None, failure: str | None
) -> None:
    fields = "{failed_when: {acme.ok: false}, failure: acme.why}"
    reading = read(rule(tmp_path, TOOL, "tool_call", fields), {**CALL, **attributes})
    assert (reading.failed, reading.failure) == (failed, failure)
    if failed:
        assert reading.sources["failed"] == "failed_when of acme, rule 1"


@pytest.mark.parametrize(("text", "failed"), [("boom", True), ("", None)])
def test_a_failure_text_alone_says_it_failed_unless_it_is_empty(
    tmp_path: Path, text: str, failed: bool | None
) -> None:
    found = rule(tmp_path, TOOL, "tool_call", "{failure: acme.error}")
    assert read(found, {**CALL, "acme.error": text}).failed is failed


def test_a_span_that_ends_with_an_error_status_failed_whatever_the_rule_says(
    tmp_path: Path,
) -> None:
    found = rule(tmp_path, TOOL, "tool_call", "{failed_when: {acme.ok: false}}")
    broken = span(1, attributes=CALL, status_code="ERROR", status_message="no disk")
    reading = Reader((found,))(broken)
    assert (reading.failed, reading.failure) == (True, "no disk")


def test_steps_of_every_type_come_out_of_a_mapping(tmp_path: Path) -> None:
    for step_type in StepType:
        found = rule(tmp_path, "{name: x}", step_type.value)
        (trajectory,) = assemble([span(1, name="x")], Reader((found,)))
        (step,) = trajectory.walk()
        assert step.step_type is step_type
        assert step.name


def test_names_of_agents_workflows_and_models(tmp_path: Path) -> None:
    for step_type in ("agent_run", "workflow_run", "workflow_step", "guardrail", "mcp_tool_call"):
        found = rule(tmp_path, "{name: x}", step_type, "{name: acme.n}")
        reading = read(found, {"acme.n": "clerk"}, "x")
        assert reading.name == "clerk"
        assert reading.agent_name == ("clerk" if step_type == "agent_run" else None)
    found = rule(tmp_path, "{name: x}", "model_generation", "{model: m, output_tokens: o}")
    reading = read(found, {"m": "small", "o": 5}, "x")
    assert (reading.name, reading.is_model_call) == ("small", True)
    assert reading.usage is not None
    assert (reading.usage.input, reading.usage.output) == (None, 5)


@pytest.mark.parametrize(
    ("match", "attributes", "holds"),
    [
        ("{attributes: {k: a*}}", {"k": "abc"}, True),
        ("{attributes: {k: a*}}", {"k": ["abc"]}, False),
        ("{attributes: {k: '1'}}", {"k": 1}, False),
        ("{attributes: {k: 1}}", {"k": 1.0}, True),
        ("{attributes: {k: true}}", {"k": 1}, False),
        ("{attributes: {k: null}}", {"k": None}, True),
        ("{attributes: {k: null}}", {}, False),
        ("{attributes: {k: [a, 1]}}", {"k": ["a", 1]}, True),
        ("{attributes: {k: {exists: true}}}", {"k": None}, True),
        ("{attributes: {k: {exists: false}}}", {}, True),
        ("{attributes: {k: {exists: false}}}", {"k": 0}, False),
        ("{name: OP}", {}, False),
        ("{name: o?, attributes: {k: x}}", {"k": "y"}, False),
        ("{service: shop}", {}, False),
    ],
)
def test_conditions(tmp_path: Path, match: str, attributes: dict[str, Json], holds: bool) -> None:
    found = rule(tmp_path, match, "noise")
    assert (found.claim(span(1, name="op", attributes=attributes)) > 0) is holds


def test_a_service_is_matched_by_its_resource(tmp_path: Path) -> None:
    found = rule(tmp_path, "{service: shop-*}", "noise")
    assert found.claim(span(1, resource={"service.name": "shop-eu"}))


BAD: list[tuple[str, int, str, str]] = [
    ("version: 2\nspans: [{match: {name: x}, as: noise}]", 1, "got 2", ""),
    ("spans:\n  - {match: {name: x}, as: noise}", 1, "version is missing", ""),
    ("version: 1\nspans: []", 2, "at least one rule was expected", ""),
    ("version: 1\nspan:\n  - {}", 1, "spans is missing", ""),
    ("version: 1\nspans:\n  - as: noise", 3, "match is missing", ""),
    ("version: 1\nspans:\n  - match: {}\n    as: noise", 3, "at least one of name", ""),
    ("version: 1\nspans:\n  - match: {name: x}\n    as: tool", 4, "got 'tool'", ""),
    (
        "version: 1\nspans:\n  - match: {name: x}\n    as: tool_cal",
        4,
        "got 'tool_cal'",
        "did you mean tool_call?",
    ),
    (
        "version: 1\nspans:\n  - match: {nam: x}\n    as: noise",
        3,
        "'nam' is unknown",
        "did you mean name?",
    ),
    (
        "version: 1\nspans:\n  - match: {name: x}\n    as: tool_call\n    fields:\n      arg: y",
        6,
        "'arg' is unknown",
        "did you mean args?",
    ),
    (
        "version: 1\nspans:\n  - match: {name: x}\n    as: tool_call\n"
        "    fields:\n      args:\n        attribut: y",
        7,
        "'attribut' is unknown",
        "did you mean attribute?",
    ),
    (
        "version: 1\nspans:\n  - match: {name: x}\n    as: tool_call\n    fields:\n"
        "      args: {attribute: y, literal: 1}",
        6,
        "exactly one of attribute, literal and span_name",
        "",
    ),
    (
        "version: 1\nspans:\n  - match: {name: x}\n    as: tool_call\n"
        "    fields: {args: {path: y}}",
        5,
        "exactly one of",
        "",
    ),
    (
        "version: 1\nspans:\n  - match: {name: x}\n    as: agent_run\n    fields:\n      args: y",
        6,
        "agent_run has no field args",
        "its fields: name, ",
    ),
    (
        "version: 1\nspans:\n  - match:\n      attributes:\n        k: {exist: true}\n"
        "    as: noise",
        5,
        "a pattern, a value or {exists: true} was expected",
        "",
    ),
    (
        "version: 1\nspans:\n  - match:\n      attributes:\n        k: {exists: maybe}\n"
        "    as: noise",
        5,
        "{exists: true} was expected",
        "",
    ),
    (
        "version: 1\nspans:\n  - match: {name: x}\n    as: tool_call\n    fields:\n"
        "      failed_when: {}",
        6,
        "at least 1 was expected",
        "",
    ),
    ('version: 1\nspans:\n  - match: {name: "re:("}\n    as: noise', 3, "malformed", ""),
    (
        "version: 1\nspans:\n  - match: {name: x}\n    as: tool_call\n"
        '    fields: {name: {span_name: "re:x"}}',
        5,
        "an expression with a group was expected",
        "",
    ),
    (
        "version: 1\nspans:\n  - match: {name: x}\n    as: tool_call\n    reason: because",
        5,
        "a reason is for noise only",
        "",
    ),
    ("version: 1\nspans:\n  - match: {name: x}\n    as: 7", 4, "a text was expected", ""),
    ("- version: 1", 1, "a mapping with version and spans was expected", ""),
    ("version: 1\nspans: {match: {name: x}, as: noise}", 2, "a list was expected", ""),
]


@pytest.mark.parametrize(("text", "line", "said", "hint"), BAD)
def test_a_mistake_is_told_with_its_line(
    tmp_path: Path, text: str, line: int, said: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        mapping(tmp_path, text)
    error = caught.value
    assert error.at is not None
    assert error.at.path is not None
    assert error.at.path.endswith("acme.yaml")
    assert (error.at.line, said in str(error)) == (line, True), str(error)
    assert hint in str(error)


@settings(max_examples=50)
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.sampled_from(["re:(", "re:(.)", "x", "noise", "tool_call", ""]),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(["version", "spans", "match", "as", "fields", "name", "args"])
                | st.sampled_from(
                    ["attributes", "exists", "failed_when", "attribute", "span_name"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_no_file_is_anything_but_a_mapping_or_a_usage_error(
    tmp_path_factory: pytest.TempPathFactory, value: Any
) -> None:
    import json

    file = tmp_path_factory.mktemp("any") / "m.json"
    whole = value if isinstance(value, dict) and "version" in value else rules_around(value)
    file.write_text(json.dumps(whole))
    try:
        load_mapping(file)
    except UsageError as error:
        assert str(file) in str(error)


def rules_around(value: Any) -> dict[str, Any]:
    entry = value if isinstance(value, dict) else {"match": {"name": "x"}, "as": value}
    return {"version": 1, "spans": [entry]}


def test_the_hash_is_of_what_the_file_says_not_of_how_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("version: 1\nspans:\n- match: {name: x} # all\n  as: noise\n")
    (tmp_path / "a.json").write_text(
        '{"version": 1, "spans": [{"as": "noise", "match": {"name": "x"}}]}'
    )
    (tmp_path / "b.yaml").write_text("version: 1\nspans:\n- match: {name: y}\n  as: noise\n")
    one, same, other = (read_map_file(tmp_path / n) for n in ("a.yaml", "a.json", "b.yaml"))
    assert one.content_hash == same.content_hash != other.content_hash
    assert len(one.content_hash) == 64
