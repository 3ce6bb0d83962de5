"""Time and memory of one task in a process of its own, with everything it starts.

One thing a newcomer would get wrong: seconds mean nothing on another machine, so every figure is
told against a yardstick that ran on the same file a moment ago.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

_SAMPLE_SECONDS = 0.3
"""Adding up the pages of large processes takes a core for milliseconds: the task lacks it then."""


class Measured(NamedTuple):
    """Seconds of the task itself, peak bytes of the process tree, and what the task said."""

    seconds: float
    peak_bytes: int
    said: Any


def measured(task: str, *args: str) -> Measured:
    """Run a task of `tests.bench.tasks` in a fresh process and measure it.

    The seconds are those of the task, without starting Python and importing. The peak is the sum of
    the proportional set sizes of all processes of the tree, sampled.
    """
    return _measured([sys.executable, "-m", "tests.bench.tasks", task, *args])


def yardstick(capture: Path) -> float:
    """Return the seconds of a bare `orjson.loads` loop over a capture, in a bare process."""
    script = Path(__file__).with_name("bare_loads.py")
    return _measured([sys.executable, str(script), str(capture)]).seconds


def _measured(command: list[str]) -> Measured:
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        peak = _Peak(process.pid)
        peak.start()
        out, _ = process.communicate()
        peak.join()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    told = json.loads(out.splitlines()[-1])
    return Measured(told["seconds"], peak.bytes, told["said"])


class _Peak(threading.Thread):
    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self.bytes = 0

    def run(self) -> None:
        while Path(f"/proc/{self._pid}/smaps_rollup").exists():
            total = sum(map(_proportional, _tree(self._pid)))
            if not total:
                return
            self.bytes = max(self.bytes, total)
            time.sleep(_SAMPLE_SECONDS)


def _tree(pid: int) -> list[int]:
    found = [pid]
    for at in found:  # grows while it is walked
        for children in Path(f"/proc/{at}/task").glob("*/children"):
            try:
                found += map(int, children.read_text().split())
            except OSError:  # ended meanwhile
                continue
    return found


def _proportional(pid: int) -> int:
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0
