"""The examples of the documentation are run: Python as doctests, YAML as expectation files."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from trajscope.evals.expectations import load_expectations

DOCS = Path(__file__).parents[3] / "docs"
PAGES = ("scorers.md", "evals.md", "compat-mastra.md", "messages.md")


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_python_examples(page: str) -> None:
    shared: dict[str, object] = {}
    runner = doctest.DocTestRunner()
    examples = 0
    for block in blocks(page, "python"):
        test = doctest.DocTestParser().get_doctest(block, shared, page, page, 0)
        examples += len(test.examples)
        runner.run(test, clear_globs=False)
        shared = test.globs
    assert examples
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize("number", range(2))
def test_yaml_examples(tmp_path: Path, number: int) -> None:
    found = blocks("scorers.md", "yaml")
    assert len(found) == 2
    path = tmp_path / "example.yaml"
    path.write_text(found[number], encoding="utf-8")
    assert len(load_expectations(path)) == number + 1
