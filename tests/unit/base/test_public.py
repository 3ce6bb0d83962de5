"""The names `import trajscope` offers."""

import ast
import subprocess
import sys
from pathlib import Path

import trajscope


def test_every_public_name_is_there_and_is_what_type_checkers_see() -> None:
    tree = ast.parse(Path(trajscope.__file__).read_text(encoding="utf-8"))
    typed = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("trajscope.")
        for alias in node.names
    }
    assert sorted(typed) == sorted(trajscope.__all__)
    for name, home in typed.items():
        found = getattr(trajscope, name)
        assert found is not None
        assert found is getattr(sys.modules[str(home)], name)


def test_unknown_names_are_refused() -> None:
    assert not hasattr(trajscope, "no_such_name")


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys, trajscope.cli; "
        "heavy = ('duckdb', 'pyarrow', 'pydantic', 'rich', 'networkx'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
