"""Secrets out of whatever leaves: values, texts, spans, trajectories, scores.

One thing a newcomer would get wrong: only values are masked. Keys, names, ids, numbers of elements
and order stay, so that a redacted document still answers every question about what was done.
"""

from trajscope.redact._patterns import PERSONAL, SECRETS, TextPattern
from trajscope.redact.records import (
    redact_finding,
    redact_log,
    redact_result,
    redact_score,
    redact_span,
    redact_step,
    redact_trajectory,
)
from trajscope.redact.redactor import Redactor, default_redactor, unkeyed
from trajscope.redact.rules import KeyRules

__all__ = [
    "PERSONAL",
    "SECRETS",
    "KeyRules",
    "Redactor",
    "TextPattern",
    "default_redactor",
    "redact_finding",
    "redact_log",
    "redact_result",
    "redact_score",
    "redact_span",
    "redact_step",
    "redact_trajectory",
    "unkeyed",
]
