"""What workers are forked from is started for captures worth it, and does not hear Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from trajscope.pipeline import ahead


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    calls: list[bool] = []
    monkeypatch.setattr(ahead, "worker_context", lambda _modules: calls.append(True))
    monkeypatch.setattr(ahead, "LARGE_BYTES", 10)
    return calls


@pytest.mark.parametrize(("size", "expected"), [(9, []), (10, [True])])
def test_it_is_started_for_large_captures_alone(
    tmp_path: Path, started: list[bool], size: int, expected: list[bool]
) -> None:
    (tmp_path / "a.jsonl").write_bytes(bytes(size))
    ahead.start_ahead([str(tmp_path / "a.jsonl")])
    ahead.start_ahead([str(tmp_path)])
    assert started == expected * 2


def test_what_is_no_file_starts_nothing(tmp_path: Path, started: list[bool]) -> None:
    ahead.start_ahead(["-", str(tmp_path / "gone"), "a\0b"])
    assert started == []


def test_ctrl_c_is_heard_again_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    with ahead._deaf():
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_can_start_it_too() -> None:
    done: list[bool] = []

    def start() -> None:
        with ahead._deaf():
            done.append(True)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert done == [True]


SCRIPT = """
import os, sys
sys.path.insert(0, sys.argv[1])
from trajscope.pipeline import ahead

def where(_nothing):
    import trajscope
    return trajscope.__file__

if __name__ == "__main__":
    before = os.environ.get("PYTHONPATH")
    with ahead.worker_context(ahead.OF_READERS).Pool(1) as pool:
        print(*pool.map(where, [0]))
    print(os.environ.get("PYTHONPATH") == before)
"""


@pytest.mark.parametrize("paths", [None, "/nowhere"])
def test_workers_load_the_package_that_a_script_put_into_its_path(
    tmp_path: Path, paths: str | None
) -> None:
    (tmp_path / "trajscope").symlink_to(Path(ahead.__file__).parents[1])
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, script, tmp_path],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path.parent,
        env=env if paths is None else {**env, "PYTHONPATH": paths},
    )
    assert done.stdout.split() == [str(tmp_path / "trajscope" / "__init__.py"), "True"]


def test_starting_ahead_loads_nothing_of_ours() -> None:
    code = (
        "import sys; from trajscope.pipeline import ahead; ahead.start_ahead(['x']); "
        "print(sorted(m for m in sys.modules if m.startswith(('trajscope.', 'duckdb', 'pyarrow'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['trajscope.pipeline', 'trajscope.pipeline.ahead']"
