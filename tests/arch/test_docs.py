"""Whatever a user can name is named in the documentation."""

import importlib
import importlib.util
import re
from pathlib import Path

import click
import pytest

from trajscope.ports import Convention, Format, Scorer
from trajscope.registry import Named, discover

DOCS = Path(__file__).parents[2] / "docs"
PLUGINS: tuple[tuple[str, str, type[Named]], ...] = (
    ("trajscope.formats", "FORMAT", Format),
    ("trajscope.conventions", "CONVENTION", Convention),
    ("trajscope.scorers", "SCORER", Scorer),
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
    main: click.Group = importlib.import_module("trajscope.cli").main
    return sorted(main.commands)


@pytest.mark.parametrize("command", commands())
def test_every_command_is_in_the_page_of_the_command_line(command: str) -> None:
    assert f"trajscope {command}" in (DOCS / "cli.md").read_text("utf-8")


PAGES = sorted(DOCS.rglob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_every_link_to_a_page_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (page.parent / link).exists()] == []
