"""Questions about the shape of one trajectory, answered with networkx. Only this package knows it.

One thing a newcomer would get wrong: a graph is made for one trajectory that someone looks at,
never per span at ingest; building one costs more than classifying the spans did.
"""

from trajscope.analysis.export import GRAPH_FORMATS, to_dot, to_graphml, to_mermaid
from trajscope.analysis.graph import MOST_ORDER_EDGES, execution_graph
from trajscope.analysis.path import CriticalPath, PathSegment, critical_path

__all__ = [
    "GRAPH_FORMATS",
    "MOST_ORDER_EDGES",
    "CriticalPath",
    "PathSegment",
    "critical_path",
    "execution_graph",
    "to_dot",
    "to_graphml",
    "to_mermaid",
]
