"""Whatever a user can name is named in the documentation."""

import importlib
import importlib.util
import re
from pathlib import Path

import pytest

from trajscope.ports import Convention, Format, Rule, Scorer
from trajscope.registry import Named, discover

DOCS = Path(__file__).parents[2] / "docs"
PLUGINS: tuple[tuple[str, str, type[Named]], ...] = (
    ("trajscope.formats", "FORMAT", Format),
    ("trajscope.conventions", "CONVENTION", Convention),
    ("trajscope.scorers", "SCORER", Scorer),
    ("trajscope.rules", "RULE", Rule),
)


def plugins() -> list[tuple[str, str]]:
    return [
        (package.rpartition(".")[2], name)
        for package, constant, kind in PLUGINS
        if importlib.util.find_spec(package) is not None
        for name in discover(package, constant, kind)
    ]


@pytest.mark.parametrize(("page", "name"), plugins())
def test_every_plug_in_is_in_the_page_of_its_kind(page: str, name: str) -> None:
    assert f"`{name}`" in (DOCS / f"{page}.md").read_text("utf-8")


def commands() -> list[str]:
    if importlib.util.find_spec("trajscope.cli") is None:
        return []
    return list(importlib.import_module("trajscope.cli.app").COMMANDS)


@pytest.mark.parametrize("command", commands())
def test_every_command_is_in_the_page_of_the_command_line(command: str) -> None:
    assert f"trajscope {command}" in (DOCS / "cli.md").read_text("utf-8")


ROOT = DOCS.parent
PAGES = sorted(DOCS.rglob("*.md"))


def links(page: Path) -> list[str]:
    """Return the links of a page to other files, without the part after "#"."""
    found = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    return [link for link in found if "://" not in link]


@pytest.mark.parametrize(
    "page",
    [*PAGES, *ROOT.glob("*.md"), ROOT / "tests" / "README.md"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_every_link_to_a_page_leads_somewhere(page: Path) -> None:
    assert [link for link in links(page) if not (page.parent / link).exists()] == []


def test_every_page_is_linked_from_the_index_or_from_the_list_of_decisions() -> None:
    lists = (DOCS / "index.md", DOCS / "adr" / "README.md")
    linked = {(page.parent / link).resolve() for page in lists for link in links(page)}
    assert [page for page in PAGES if page.resolve() not in linked | {lists[0]}] == []
