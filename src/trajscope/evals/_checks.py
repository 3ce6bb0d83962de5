"""What a scorer is given, refused at once when it cannot work: judges and trajectories.

One thing a newcomer would get wrong: a mapping without `steps` would pass as an empty trajectory,
since unknown members are let through; so it is refused here, where it is most likely a slip.
"""

from __future__ import annotations

from collections.abc import Mapping
from reprlib import repr as shown
from typing import Any

from pydantic import ValidationError

from trajscope.documents import usage_error
from trajscope.errors import UsageError
from trajscope.model.trajectory import Trajectory


def check_judge(place: str, judge: Any) -> None:
    """Refuse what is neither a model's name nor an object that can be asked; None is neither.

    Raises:
        UsageError: it is something else.
    """
    if judge is None or (isinstance(judge, str) and judge.strip()):
        return
    missing = [name for name in ("model_id", "provider", "ask") if not hasattr(judge, name)]
    if isinstance(judge, str) or missing:
        raise UsageError(
            f"{place}: the judge is {shown(judge)}; a model's name or an object with model_id, "
            "provider and ask was expected"
        )


def to_trajectory(place: str, output: Any) -> Trajectory:
    """Return the output of a run as the trajectory it must be.

    Raises:
        UsageError: it is none.
    """
    if isinstance(output, Trajectory):
        return output
    if not isinstance(output, Mapping) or "steps" not in output:
        raise UsageError(
            f"{place}: the output is no trajectory (got {shown(output)}); its type is trajectory",
            hint="make one of messages with extract_trajectory",
        )
    try:
        return Trajectory.model_validate(output)
    except ValidationError as error:
        raise UsageError(f"{place}: output: {usage_error(error, Trajectory)}") from error
    except RecursionError as error:
        raise UsageError(f"{place}: output: is nested too deeply to be read") from error
