"""Every recorded line of the reference gives the same result under `compat="mastra"`."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.support.vectors import replay

FILES = sorted(Path(__file__).parent.glob("*.jsonl.zst"))
SKIPPED_KINDS = ("type_error", "stack_overflow")


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as raw, zstandard.ZstdDecompressor().stream_reader(raw) as stream:
        for line in io.TextIOWrapper(stream, encoding="utf-8"):
            yield json.loads(line)


def kind_of(vector: dict[str, Any]) -> str | None:
    error = vector.get("error", {})
    kind: str | None = error.get("cause", error).get("kind")
    return kind


def equal(want: Any, got: Any) -> bool:
    """JSON equality: 1 equals 1.0, true is not 1, the order of keys is free."""
    if isinstance(want, dict) and ("$any" in want or "$ref" in want):
        return True
    if isinstance(want, bool) or isinstance(got, bool):
        return want is got
    if isinstance(want, int | float) and isinstance(got, int | float):
        return float(want) == float(got)
    if isinstance(want, dict) and isinstance(got, dict):
        return want.keys() == got.keys() and all(equal(want[k], got[k]) for k in want)
    if isinstance(want, list) and isinstance(got, list):
        return len(want) == len(got) and all(map(equal, want, got))
    return type(want) is type(got) and want == got


def essence(answer: dict[str, Any]) -> dict[str, Any]:
    """What must be equal: the output, or of an error what it is and where it came from."""
    if "error" not in answer:
        output = answer["output"]
        if isinstance(output, dict):
            output = {k: v for k, v in output.items() if k != "reasonKinds"}
        return {"output": output}
    error = answer["error"]
    cause = error.get("cause", error)
    run = ("failedStep", "completedSteps", "details", "result")
    return {
        **{k: v for k, v in cause.items() if k in ("kind", "step", "field")},
        **{k: v for k, v in error.items() if k in run},
    }


def test_there_is_a_file_for_every_function_of_the_table() -> None:
    assert len(FILES) >= 8


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split(".")[0])
def test_replay(path: Path) -> None:
    replayed, differing = 0, []
    for vector in lines(path):
        if vector.get("nodeOnly") or kind_of(vector) in SKIPPED_KINDS:
            continue
        replayed += 1
        got = replay({k: vector[k] for k in ("fn", "input", "options") if k in vector})
        if not equal(essence(vector), essence(got)):
            differing.append(f"{vector['case']}: got {json.dumps(got, default=str)[:300]}")
    assert replayed
    assert not differing, f"{len(differing)} of {replayed}: " + "\n".join(differing[:3])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split(".")[0])
def test_malformed_input_is_refused_without_a_crash(path: Path) -> None:
    """Where the JavaScript engine itself throws, we raise an error of our own."""
    for vector in lines(path):
        if kind_of(vector) in SKIPPED_KINDS and not vector.get("nodeOnly"):
            got = replay({k: vector[k] for k in ("fn", "input", "options") if k in vector})
            assert "error" in got or "output" in got, vector["case"]
