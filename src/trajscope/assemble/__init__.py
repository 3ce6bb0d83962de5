"""Forest and readings become a Trajectory; what needs other spans is RESOLVE, in order."""

from trajscope.assemble._logs import join_logs
from trajscope.assemble.outline import OutlineRow
from trajscope.assemble.resolve import RESOLVE
from trajscope.assemble.stored import to_step, to_trajectory
from trajscope.assemble.trajectories import Assembled, assemble, assemble_traces

__all__ = [
    "RESOLVE",
    "Assembled",
    "OutlineRow",
    "assemble",
    "assemble_traces",
    "join_logs",
    "to_step",
    "to_trajectory",
]
