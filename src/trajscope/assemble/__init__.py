"""Forest and readings become a Trajectory; what needs other spans is RESOLVE, in order."""

from trajscope.assemble.resolve import RESOLVE
from trajscope.assemble.trajectories import assemble

__all__ = ["RESOLVE", "assemble"]
