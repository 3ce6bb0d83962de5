"""`make bench`: measures what takes time, and writes docs/benchmarks.md.

    python -m tests.bench.run SPANS...

One thing a newcomer would get wrong: only ratios are written down. They are against a bare
`orjson.loads` loop over the same file, run before and after, of which the faster one counts.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.bench.generate import deep_trace, traces, write
from tests.bench.measure import Measured, measured, yardstick
from trajscope.pipeline.scoring import chosen_scorers
from trajscope.ports import SetScorer

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
SCORERS = ("comparison", "efficiency", "blacklist", "tool-failures", "trajectory")
DEEP_SPANS = 10_000

_HEAD = """# Benchmarks

Written by `make bench` (`make bench-full` adds a million spans); do not edit. Every figure is a
ratio from one run on one machine: 1.00 is the time of a bare `orjson.loads` loop over the same
capture in a process of its own, the least any reader has to do. A capture is OTLP/JSON lines of
agent runs of 20 spans, {size:.0f} bytes a span, from `tests/bench/generate.py`. Memory is the peak
of all processes together.
"""


class Case(NamedTuple):
    """One capture and what was measured on it; seconds by name, and peaks by name."""

    spans: int
    kind: str
    bytes: int
    yardstick: float
    found: dict[str, Measured]

    def ratio(self, name: str) -> str:
        """Return the time of a task in yardsticks, as text; "–" if it was not measured."""
        one = self.found.get(name)
        return "–" if one is None else f"{one.seconds / self.yardstick:.2f}"


def measure_case(folder: Path, spans: int, *, distinct: bool) -> Case:
    """Measure everything on one capture; both engines must score every trace."""
    kind = "all distinct" if distinct else "realistic"
    capture, db = folder / "capture.jsonl", folder / "spans.duckdb"
    write(capture, traces(spans, distinct=distinct))
    before = yardstick(capture)
    found = {"ingest": _told(kind, spans, "ingest", str(capture), str(db))}
    for name in ("derive", "query", "audit", "sequence", "three", "each"):
        found[name] = _told(kind, spans, name, str(db))
    for scorer in SCORERS:
        for engine in ("python", "sql"):
            if engine == "sql" and not isinstance(chosen_scorers([scorer])[0], SetScorer):
                continue
            found[f"{scorer} {engine}"] = _told(kind, spans, "score", str(db), scorer, engine)
    after = yardstick(capture)
    case = Case(spans, kind, capture.stat().st_size, min(before, after), found)
    capture.unlink()
    db.unlink()
    return case


def _told(kind: str, spans: int, task: str, *args: str) -> Measured:
    one = measured(task, *args)
    what = " ".join((task, *(args[1:] if task == "score" else ())))
    sys.stderr.write(
        f"{spans:,} spans, {kind}: {what}: {one.seconds:.2f} s, {one.peak_bytes / 1e6:.0f} MB\n"
    )
    return one


def measure_deep(folder: Path) -> float:
    """Return how long the tree of one long trace takes, in yardsticks."""
    capture = folder / "deep.jsonl"
    write(capture, iter([deep_trace(DEEP_SPANS)]))
    bare = min(yardstick(capture) for _ in range(3))
    return _told("one trace", DEEP_SPANS, "tree", str(capture)).seconds / bare


def page(cases: list[Case], deep: float) -> str:
    """Return the page with all figures."""
    lines = [_HEAD.format(size=cases[0].bytes / cases[0].spans)]
    lines += ["## Time, in yardsticks\n", _row("", *(_name(c) for c in cases))]
    lines.append(_row("---", *("---:" for _ in cases)))
    for task in ("ingest", "derive", "query", "audit", "sequence", "three", "each"):
        lines.append(_row(_WORDS[task], *(c.ratio(task) for c in cases)))
    for scorer in SCORERS:
        for engine, word in (("sql", "set-wise"), ("python", "the definition")):
            lines.append(
                _row(f"score {scorer}, {word}", *(c.ratio(f"{scorer} {engine}") for c in cases))
            )
    lines.append(_row("the definition / set-wise, all scorers", *map(_speedup, cases)))
    lines += ["\n## Peak memory, MB\n", _row("", *(_name(c) for c in cases))]
    lines.append(_row("---", *("---:" for _ in cases)))
    for task in ("ingest", "derive"):
        peaks = (f"{c.found[task].peak_bytes / 1e6:.0f}" for c in cases)
        lines.append(_row(_WORDS[task], *peaks))
    lines += ["\n## Growth of time per span\n", _growth(cases)]
    lines.append(
        f"\nThe tree of one trace of {DEEP_SPANS:,} spans, from the file: {deep:.1f} yardsticks."
    )
    return "\n".join(lines) + "\n"


_WORDS = {
    "ingest": "ingest, with steps",
    "derive": "derive all steps afresh",
    "query": "query: failures by tool",
    "audit": "audit: 25 rules",
    "sequence": "one forbidden sequence, set-wise",
    "three": "efficiency, blacklist and tool failures together, set-wise",
    "each": "comparison with an expectation for each trace, set-wise",
}


def _name(case: Case) -> str:
    return f"{case.spans:,} {case.kind}"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _speedup(case: Case) -> str:
    both = [s for s in SCORERS if f"{s} sql" in case.found]
    if not both:
        return "–"
    slow = sum(case.found[f"{s} python"].seconds for s in both)
    return f"{slow / sum(case.found[f'{s} sql'].seconds for s in both):.1f}"


def _growth(cases: list[Case]) -> str:
    said = []
    for kind in dict.fromkeys(c.kind for c in cases):
        same = [c for c in cases if c.kind == kind]
        small, large = same[0], same[-1]
        if small.spans == large.spans:
            continue
        for task in ("ingest", "derive", "audit", "three"):
            growth = (large.found[task].seconds / large.spans) / (
                small.found[task].seconds / small.spans
            )
            said.append(
                f"- {_WORDS[task]}, {kind}: {growth:.2f} at {large.spans:,} spans for each 1.00 at "
                f"{small.spans:,}"
            )
    return "\n".join(said) or "Measured on more than one size only."


def main(sizes: list[int]) -> None:
    """Measure captures of these sizes, realistic and all-distinct, and write the page."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        cases = [
            measure_case(folder, size, distinct=distinct)
            for distinct in (False, True)
            for size in sizes
        ]
        text = page(cases, measure_deep(folder))
    PAGE.write_text(text, encoding="utf-8")
    sys.stdout.write(text)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [20_000])
