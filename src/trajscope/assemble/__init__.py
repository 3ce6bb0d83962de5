"""Forest and readings become a Trajectory; what needs other spans is RESOLVE, in order."""

from trajscope.assemble._encoded import encoded
from trajscope.assemble._logs import event_of, join_logs, stood_for, with_events
from trajscope.assemble._standins import Known, Standin, place_standins
from trajscope.assemble.outline import OutlineRow
from trajscope.assemble.resolve import RESOLVE
from trajscope.assemble.stored import to_step, to_trajectory, totals_of
from trajscope.assemble.trajectories import Assembled, assemble, assemble_traces

__all__ = [
    "RESOLVE",
    "Assembled",
    "Known",
    "OutlineRow",
    "Standin",
    "assemble",
    "assemble_traces",
    "encoded",
    "event_of",
    "join_logs",
    "place_standins",
    "stood_for",
    "to_step",
    "to_trajectory",
    "totals_of",
    "with_events",
]
