"""What was assumed or changed to place a span: kept, queryable, never silent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

RepairKind = Literal[
    "duplicate_merged",
    "self_parent_broken",
    "cycle_broken",
    "orphan",
    "negative_duration",
    "clock_skew",
]


@dataclass(frozen=True, slots=True)
class Repair:
    """One assumption about one span: `kind`, the span it concerns, and `detail` for people."""

    kind: RepairKind
    trace_id: str
    span_id: str
    detail: str
