"""Scores with where they come from: who judged, in which version, against what; and what failed.

One thing a newcomer would get wrong: a scorer that fails is a result without a value. Only what is
wrong with the command itself (`UsageError`) ends the run.
"""

from __future__ import annotations

import hashlib
import json
import math
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from reprlib import repr as shown
from typing import Any

from trajscope.errors import TrajscopeError
from trajscope.evals.error import ScorerRunError
from trajscope.model.expectation import NamedExpectation
from trajscope.model.score import Score
from trajscope.model.trajectory import Trajectory
from trajscope.model.value import Value, camel
from trajscope.ports import Scorer


def marked(score: Score, scorer: Scorer, named: NamedExpectation | None) -> Score:
    """Return the score with its scorer's version and parameters, and what it was held against."""
    said: dict[str, Any] = {
        "expectation": None if named is None else named.name,
        "scorer_version": scorer_version(scorer),
    }
    if named is not None:
        said["expectation_hash"] = expectation_hash(named)
    parameters = getattr(scorer, "parameters", None)
    if parameters is not None:
        said["parameters"] = parameters
    return score.model_copy(update=said)


def checked(scorer: Scorer, trajectory: Trajectory, score: object) -> Score:
    """Return what a scorer gave, if it keeps the contract.

    Raises:
        TypeError: it is no score. ValueError: the value is no number from 0 to 1.
    """
    if not isinstance(score, Score):
        raise TypeError(f"gave {shown(score)}; a Score was expected")
    value = score.value
    if value is not None and not (math.isfinite(value) and 0 <= value <= 1):
        raise ValueError(f"gave the value {value}; 0 to 1 or None was expected")
    if score.scorer == scorer.name and score.trace_id == trajectory.trace_id:
        return score
    # Its own name and trace, whatever it wrote there: by them a score is found and replaced.
    return score.model_copy(update={"scorer": scorer.name, "trace_id": trajectory.trace_id})


def failed(scorer: Scorer, trajectory: Trajectory, error: Exception) -> Score:
    """Return the result of a scorer that raised.

    Raises:
        TrajscopeError: it is no failure of the scorer: the expectation or the store is at fault.
    """
    if isinstance(error, TrajscopeError) and not isinstance(error, ScorerRunError):
        raise error
    cause = error.__cause__ if isinstance(error, ScorerRunError) and error.__cause__ else error
    said = str(error) if isinstance(error, ScorerRunError) else f"{type(error).__name__}: {error}"
    return Score(
        scorer=scorer.name,
        value=None,
        reason=f"the scorer failed: {said}",
        trace_id=trajectory.trace_id,
        error_type=type(cause).__name__,
    )


def scorer_version(scorer: Scorer) -> str:
    """Return the version a scorer says it has, else that of the package it comes from."""
    said = getattr(scorer, "version", None)
    return said if isinstance(said, str) else _package_version(type(scorer).__module__)


@cache
def _package_version(module: str) -> str:
    top = module.partition(".")[0]
    names = [top] if top == "trajscope" else packages_distributions().get(top, [])
    for name in names:
        try:
            return version(name)
        except PackageNotFoundError:  # run from a checkout that was never installed
            continue
    return "unknown"


def _said(value: object) -> dict[str, Any]:
    """Return what `model_dump(by_alias=True)` does, its values as they are; it is much sooner.

    It is asked of every expectation, and there may be one for each of ten thousand traces.

    Raises:
        TypeError: it is none of our values.
    """
    if not isinstance(value, Value):
        raise TypeError(f"{type(value).__name__} is no JSON")
    return {camel(name): getattr(value, name) for name in value.model_fields_set}


_sorted_json = json.JSONEncoder(sort_keys=True, allow_nan=False, default=_said).encode

_MOST_HASHES = 50_000
_hashes: dict[int, tuple[NamedExpectation, str]] = {}


def expectation_hash(named: NamedExpectation) -> str:
    """Return a hash of what an expectation says, whatever its name and whom it is for."""
    # By identity, with the expectation held so that its id stays its own.
    if id(named) not in _hashes:
        try:
            text = _sorted_json(named.expect)
        except (TypeError, ValueError):  # something that only the model knows how to write
            said = named.expect.model_dump(mode="json", by_alias=True)
            text = json.dumps(said, sort_keys=True)
        if len(_hashes) >= _MOST_HASHES:
            _hashes.clear()
        _hashes[id(named)] = (named, hashlib.sha256(text.encode()).hexdigest()[:16])
    return _hashes[id(named)][1]
