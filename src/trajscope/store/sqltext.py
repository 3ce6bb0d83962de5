"""Where the SQL of the store lives and how it is found: the `sql/` folder, one statement a file.

One thing a newcomer would get wrong: in a wheel the folder is `trajscope/sql`, in a checkout (and
so in an editable install) it is `sql/` beside `src/`. Nothing else in the package may know that.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from trajscope.errors import StoreError

_ORDER = "ddl/_order"


@cache
def sql_folder() -> Traversable:
    """Return the `sql/` folder of this installation.

    Raises:
        StoreError: the folder is in neither place; the installation is damaged.
    """
    packaged = files("trajscope") / "sql"
    checkout = Path(__file__).resolve().parents[3] / "sql"
    for folder in (packaged, checkout):
        if (folder / _ORDER).is_file():
            return folder
    raise StoreError(
        f"{packaged}: the SQL files of the store are missing; expected ddl/_order in it",
        hint="install trajscope again: pip install --force-reinstall trajscope",
    )


@cache
def sql_text(name: str) -> str:
    """Return the text of one file of `sql/`, by its path without the ending.

    >>> sql_text("queries/count_spans").startswith("--")
    True

    Raises:
        StoreError: there is no such file.
    """
    file = sql_folder() / f"{name}.sql"
    if not file.is_file():
        raise StoreError(f"sql/{name}.sql: no such file; expected a statement of the store")
    return file.read_text(encoding="utf-8")


@cache
def ddl_order(kind: str) -> tuple[str, ...]:
    """Return the names of the DDL files of `kind` ("store" or "work") in the order they run.

    "store" is what a file keeps; "work" are the temporary tables every writing connection needs.
    """
    lines = (sql_folder() / _ORDER).read_text(encoding="utf-8").splitlines()
    names = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return tuple(f"ddl/{name}" for name in names if name.startswith("work/") == (kind == "work"))
