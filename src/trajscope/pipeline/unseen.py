"""Names of a policy that no stored step goes by.

One thing a newcomer would get wrong: such a name is no mistake. A rule against `delete_all` is at
its best while nobody ever called it; so it is a warning, with near names.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from trajscope.match import compile_pattern, step_names
from trajscope.model.policy import Policy, PolicyRule
from trajscope.model.reading import StepType
from trajscope.model.step import STEP_CLASSES, build_step
from trajscope.pipeline.policy import names_of

if TYPE_CHECKING:
    from trajscope.store import Store

_NAMES = "SELECT DISTINCT step_type, name, mcp_server FROM steps"


@dataclass(frozen=True, slots=True)
class UnseenName:
    """A name of a rule that no stored step goes by, with the nearest names that are there."""

    rule: PolicyRule
    pattern: str
    near: tuple[str, ...]


def unseen_names(policy: Policy, store: Store) -> list[UnseenName]:
    """Return the names and patterns of rules that match no step of the store.

    Raises:
        StoreError: the store cannot be read.
    """
    known = _stored_names(store)
    everything = sorted({name for names in known for name in names})
    found = []
    for rule in policy.rules:
        for pattern in names_of(rule):
            compiled = compile_pattern(pattern)
            if not any(compiled.matches(names) for names in known):
                near = get_close_matches(pattern, everything, n=3, cutoff=0.7)
                found.append(UnseenName(rule, pattern, tuple(near)))
    return found


def _stored_names(store: Store) -> list[tuple[str, ...]]:
    names = []
    for step_type, name, server in store.query(_NAMES).rows:
        kind = StepType(step_type)
        values: dict[str, Any] = {"name": name}
        if "mcp_server" in STEP_CLASSES[kind].model_fields and server is not None:
            values["mcp_server"] = server
        names.append(step_names(build_step(kind, values)))
    return names
