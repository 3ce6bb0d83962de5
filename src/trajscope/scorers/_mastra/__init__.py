"""The reference's scorers, bit for bit, on plain JSON values: what `compat="mastra"` runs."""

from trajscope.scorers._mastra.blacklist import check_trajectory_blacklist
from trajscope.scorers._mastra.comparison import compare_trajectories
from trajscope.scorers._mastra.efficiency import BudgetError, check_trajectory_efficiency
from trajscope.scorers._mastra.failures import analyze_tool_failures
from trajscope.scorers._mastra.plain import to_plain

__all__ = [
    "BudgetError",
    "analyze_tool_failures",
    "check_trajectory_blacklist",
    "check_trajectory_efficiency",
    "compare_trajectories",
    "to_plain",
]
