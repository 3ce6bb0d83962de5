"""The spans of each trace by parent, every span exactly once, with what was repaired to get there.

One thing a newcomer would get wrong: a forest holds *spans*, not steps. Noise is still in it;
`assemble` decides what is a step. An orphan is no root: it stands at the top, at its place in
time, and is reported.
"""

from trajscope.tree.build import build_forests
from trajscope.tree.forest import Forest, Node, iter_ancestors
from trajscope.tree.repairs import REPAIRS, SKEW_TOLERANCE_NS, version_rank

__all__ = [
    "REPAIRS",
    "SKEW_TOLERANCE_NS",
    "Forest",
    "Node",
    "build_forests",
    "iter_ancestors",
    "version_rank",
]
