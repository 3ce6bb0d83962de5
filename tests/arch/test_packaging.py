"""The SQL files stand beside the package in a checkout and inside it in a wheel: all are found."""

import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SQL_FILES = {str(path.relative_to(ROOT)) for path in (ROOT / "sql").rglob("*") if path.is_file()}
FIND_SQL = """
import trajscope
from trajscope.store.sqltext import ddl_order, sql_folder, sql_text
for name in (*ddl_order("store"), *ddl_order("work")):
    assert sql_text(name).strip(), name
print(trajscope.__file__)
print(sql_folder())
"""


def run(*command: object) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    return folder


def python_with(folder: Path, *requirement: object) -> Path:
    """Return the interpreter of a new environment with trajscope installed into it.

    It borrows the dependencies of this one through a path file, which does not make it see the
    trajscope that is installed here: path files found on the way are not followed.
    """
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    Path(site, "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
    run(*pip, "install", "--no-deps", "--no-index", "--no-build-isolation", "-q", *requirement)
    return python


def places(python: Path) -> tuple[Path, Path]:
    # From another folder and isolated, so that neither "." nor PYTHONPATH helps.
    package, sql = run(python, "-I", "-c", FIND_SQL).splitlines()
    return Path(package), Path(sql)


def test_the_sdist_and_the_wheel_hold_every_sql_file(dist: Path) -> None:
    assert SQL_FILES
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as tar:
        packed = {name.partition("/")[2] for name in tar.getnames()}
    assert packed >= SQL_FILES | {"Makefile", ".ci/run", "README.md", "pyproject.toml", "LICENSE"}
    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert names >= {f"trajscope/{name}" for name in SQL_FILES} | {"trajscope/py.typed"}
    assert not {name for name in names if name.split("/")[0] in ("sql", "tests", "fixtures")}


@pytest.mark.parametrize("kind", ["*.whl", "*.tar.gz"])
def test_an_install_from_a_built_file_finds_the_sql_inside_it(
    dist: Path, tmp_path: Path, kind: str
) -> None:
    (built,) = dist.glob(kind)
    package, sql = places(python_with(tmp_path / "env", built))
    assert package.is_relative_to(tmp_path)
    assert sql == package.parent / "sql"


def test_an_editable_install_finds_the_sql_of_the_checkout(tmp_path: Path) -> None:
    package, sql = places(python_with(tmp_path / "env", "--editable", ROOT))
    assert package == ROOT / "src" / "trajscope" / "__init__.py"
    assert sql == ROOT / "sql"
