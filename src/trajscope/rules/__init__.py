"""Audit rules: one file per kind, each with a constant `RULE`; and the engine that decides them.

One thing a newcomer would get wrong: a kind only *compiles*. What its checks mean stands in
`model.check`, and every engine decides them alike; a new kind is one new file.
"""

from trajscope.rules._engine import (
    NO_EVIDENCE,
    Evidence,
    Judged,
    audit_rule,
    audit_traces,
    judged,
)
from trajscope.rules._policy import load_policy, parse_policy, rule_kinds
from trajscope.rules._words import rule_in_words

__all__ = [
    "NO_EVIDENCE",
    "Evidence",
    "Judged",
    "audit_rule",
    "audit_traces",
    "judged",
    "load_policy",
    "parse_policy",
    "rule_in_words",
    "rule_kinds",
]
