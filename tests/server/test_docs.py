"""The code of the page about telemetry runs."""

import re
from pathlib import Path
from typing import Any

from tests.support.receivers import http_backend

PAGE = Path(__file__).parents[2] / "docs" / "telemetry.md"


def test_the_code_of_the_page_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 2
    with http_backend() as backend:
        names: dict[str, Any] = {"URL": backend.url}
        for block in blocks:
            exec(block, names)
        names["provider"].shutdown()
    assert [e["attributes"]["gen_ai.evaluation.name"] for e in backend.events] == ["blacklist"] * 2


def test_the_page_names_every_attribute() -> None:
    text = PAGE.read_text("utf-8")
    source = Path(__file__).parents[2] / "src" / "trajscope"
    code = "".join(
        (source / name).read_text("utf-8")
        for name in ("pipeline/evaluations.py", "telemetry/events.py")
    )
    named = set(re.findall(r'"((?:gen_ai|trajscope|error)\.[\w.]+)"', code))
    assert len(named) > 10
    missing = [n for n in named if n not in text and f".{n.rpartition('.')[2]}`" not in text]
    assert missing == []
