"""OpenTelemetry both ways: trajectories out of a running program, scores back to a backend.

One thing a newcomer would get wrong: names are imported when they are first used, since the SDK
and its exporters cost half a second that most commands do not need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trajscope.telemetry.exporter import TrajectoryExporter
    from trajscope.telemetry.sender import OtlpSender

_HOMES = {"OtlpSender": "sender", "TrajectoryExporter": "exporter"}

__all__ = ["OtlpSender", "TrajectoryExporter"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
