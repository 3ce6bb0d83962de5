"""A policy of whatever shape is read, or refused with its place; nothing else ever happens."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from trajscope.errors import UsageError
from trajscope.model.trajectory import Trajectory
from trajscope.pipeline.policy import names_of
from trajscope.rules import audit_rule, parse_policy, rule_in_words, rule_kinds

KEYS = [key for kind in rule_kinds().values() for key in (kind.name, *kind.aliases)]
PARTS = [
    "tool",
    "need",
    "where",
    "args.x",
    "gt",
    "in",
    "matches",
    "exists",
    "gap",
    "within",
    "unless",
    "same",
    "differ",
    "each",
    "scope",
    "under",
    "among",
    "select",
    "examples",
    "violated",
    "from",
    "to",
    "min",
    "max",
    "exactly",
    "times",
    "id",
    "severity",
    "message",
    "of",
    "type",
    "name",
    "agent",
    "allow",
    "deny",
    "start",
    "end",
    "traces",
    "parallel",
    "at",
    "for",
    "failed",
    "part",
    "as",
    "order",
    "lists",
    "rules",
    "require",
    "result",
]
VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    "",
    "a",
    "$x",
    "re:(",
    "*",
    "a.result",
    "args.id",
    "5m",
]
VALUES += ["50k", {}, [], [[]], "agent", "session", "all", 10**30, "{1}", "{zz}", "end", "x.py:f"]

parts = st.recursive(
    st.sampled_from(VALUES),
    lambda inner: (
        st.dictionaries(st.sampled_from(PARTS), inner, max_size=4) | st.lists(inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=100)
@given(st.sampled_from(KEYS), parts, st.dictionaries(st.sampled_from(PARTS), parts, max_size=3))
def test_a_rule_of_any_shape(kind: str, body: Any, beside: dict[str, Any]) -> None:
    text = json.dumps({"lists": {"x": ["a"]}, "rules": [{kind: body, **beside}]})
    try:
        policy = parse_policy(text, "p.json")
    except UsageError as error:
        assert str(error).startswith("p.json:1:")
        return
    for rule in policy.rules:
        assert rule_in_words(rule)
        assert isinstance(names_of(rule), tuple)
        assert audit_rule(rule, [Trajectory()]).rule == rule.id
        for example in rule.examples:
            assert audit_rule(rule, example.trajectories).message
