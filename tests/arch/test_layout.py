"""What the drawing of the house says about files, held by a machine."""

import ast
import os
import re
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "trajscope"
MODULES = sorted(SOURCE.rglob("*.py"))
MOST_LINES = 300
PLUGIN_PACKAGES = ("formats", "conventions", "scorers")

COMMITTED = ("src", "tests", "docs", "sql", "fixtures", ".ci", "Makefile", "pyproject.toml")
# Written in two halves, so that this file does not find itself.
PLACES = re.compile("|".join(("/wo" + "rk/", r"\.\./sha" + "red", "/ro" + "ot/", "/opt/py" + "pi")))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def text_files() -> Iterator[Path]:
    for top in (*(ROOT / entry for entry in COMMITTED), *ROOT.glob("*.md")):
        found = top.rglob("*") if top.is_dir() else [top]
        yield from (p for p in found if p.is_file() and p.suffix not in (".pyc", ".pb", ".gz"))


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_no_module_is_longer_than_a_sitting(module: Path) -> None:
    assert len(module.read_text("utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_every_module_says_what_lives_in_it_and_holds_something(module: Path) -> None:
    tree = ast.parse(module.read_text("utf-8"))
    assert ast.get_docstring(tree), "a module starts with a docstring"
    siblings = [p for p in module.parent.iterdir() if p.suffix in ("", ".py") and p != module]
    heads_a_package = module.name == "__init__.py" and any(
        p.name != "__pycache__" for p in siblings
    )
    assert len(tree.body) > 1 or heads_a_package, "a module of only a docstring is a placeholder"


def test_every_folder_with_modules_is_a_package() -> None:
    assert [p for p in {m.parent for m in MODULES} if not (p / "__init__.py").exists()] == []


def test_the_check_of_the_ci_is_make_check() -> None:
    script = ROOT / ".ci" / "run"
    assert script.read_text().splitlines() == ["#!/usr/bin/env bash", "exec make check"]
    assert os.access(script, os.X_OK)


def test_the_readme_names_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    assert "make run" in readme
    assert "make check" in readme


def test_no_committed_text_names_the_place_it_was_written_at() -> None:
    named = {
        name(path): found.group()
        for path in text_files()
        if (found := PLACES.search(path.read_text("utf-8", errors="replace")))
    }
    assert named == {}


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("trajscope", cache_dir=None)


@pytest.mark.parametrize("package", PLUGIN_PACKAGES)
def test_plug_ins_do_not_know_each_other(imports: grimp.ImportGraph, package: str) -> None:
    # A plug-in is one file of differences; what several share is a module with a leading "_".
    parent = f"trajscope.{package}"
    children = imports.find_children(parent)
    plugins = {module for module in children if not module.rpartition(".")[2].startswith("_")}
    known = {
        (plugin, other)
        for plugin in plugins
        for module in {plugin, *imports.find_descendants(plugin)}
        for imported in imports.find_modules_directly_imported_by(module)
        for other in plugins - {plugin}
        if imported == other or imported.startswith(f"{other}.")
    }
    assert known == set()
