"""Whether a recorded step is the expected one; the one place where names and values compare."""

from trajscope.match.arguments import MATCHES, Match, match_args
from trajscope.match.canonical import json_key
from trajscope.match.patterns import (
    NamePattern,
    Regex,
    compile_pattern,
    literal_pattern,
    step_names,
    tool_key,
)
from trajscope.match.steps import match_step

__all__ = [
    "MATCHES",
    "Match",
    "NamePattern",
    "Regex",
    "compile_pattern",
    "json_key",
    "literal_pattern",
    "match_args",
    "match_step",
    "step_names",
    "tool_key",
]
