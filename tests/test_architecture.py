"""The shape of the project: who imports whom, what the wheel holds, how long files grow."""

import ast
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

PACKAGES = ("api", "domain", "eventstore", "projections", "seeds")
"""The top names of the wheel, and nothing else."""

SOURCES = sorted(
    path for name in (*PACKAGES, "bench", "faults", "tests") for path in (ROOT / name).rglob("*.py")
)

PAGES = sorted(path for kind in ("js", "css") for path in (ROOT / "api/table").rglob(f"*.{kind}"))

LONGEST = 450
"""Lines of a file of one purpose."""

BANNED_NAMES = {"utils", "helpers", "common", "base", "manager", "service"}


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """The import contracts of pyproject.toml, over the packages of a folder."""
    ask = "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", ask, "--no-cache"],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PATH": "", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_dependencies_run_one_way() -> None:
    """architecture, One picture: api over projections over {domain, eventstore}."""
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("domain/seats.py", "import eventstore.records", "do not know each other"),
        ("eventstore/records.py", "import domain.cards", "do not know each other"),
        ("projections/__init__.py", "import api", "do not know each other"),
        ("domain/shuffle.py", "import random", "the domain is pure"),
        ("domain/times.py", "import datetime", "the domain is pure"),
        ("domain/codec.py", "import psycopg", "the domain is pure"),
        ("domain/cards.py", "import domain.events", "inside the domain"),
        ("domain/table/views.py", "import domain.log", "inside the domain"),
        ("api/__init__.py", "import domain.lodam", "nobody knows a game"),
        ("projections/__init__.py", "import domain.tricks", "nobody knows a game"),
    ],
)
def test_an_import_the_other_way_is_found(
    file: str, line: str, contract: str, tmp_path: Path
) -> None:
    """Each contract bites: planted in a copy, the import is reported under its name."""
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / file).open("a", encoding="utf-8") as source:
        source.write(f"\n{line}\n")
    done = lint_imports(tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    broken = [text for text in done.stdout.splitlines() if text.strip().endswith("BROKEN")]
    assert any(contract in text for text in broken), done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The files of the wheel as it would be published, without the metadata."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    assert built.name.startswith("fairdeal-")
    names = zipfile.ZipFile(built).namelist()
    return {name for name in names if ".dist-info/" not in name}


def test_the_wheel_holds_exactly_the_five_top_names(wheel: set[str]) -> None:
    """style, Packaging: no tests, no bench, no faults, nothing beside the packages."""
    assert {name.partition("/")[0] for name in wheel} == set(PACKAGES)


def test_the_wheel_holds_all_that_is_read_at_run_time(wheel: set[str]) -> None:
    """style, Packaging: every .py, .sql and .md of the packages, the files of the table in the
    browser, and no leftovers."""
    wanted = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for suffix in ("py", "sql", "md", "html", "css", "js", "svg")
        for path in (ROOT / package).rglob(f"*.{suffix}")
    }
    assert any(name.endswith(".sql") for name in wanted)
    assert any(name.endswith(".md") for name in wanted)
    assert "api/table/index.html" in wanted
    assert wanted <= wheel, wanted - wheel
    assert not [name for name in wheel if "__pycache__" in name or name.endswith(".pyc")]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_file_says_what_it_is_and_stays_short(path: Path) -> None:
    """style, rule 1 and Small settled things."""
    source = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(source)), "no module docstring"
    assert source.count("\n") <= LONGEST
    assert path.stem not in BANNED_NAMES


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_file_of_the_page_says_what_it_is_and_stays_short(path: Path) -> None:
    """style, rule 1, for the table in the browser."""
    source = path.read_text(encoding="utf-8")
    assert source.startswith("// " if path.suffix == ".js" else "/* "), "no word of what it is"
    assert source.count("\n") <= LONGEST
    assert path.stem not in BANNED_NAMES


def test_every_test_folder_is_a_package() -> None:
    """style, Packaging: without `__init__.py`, `tests/domain` would be imported as `domain`."""
    folders = {path.parent for path in (ROOT / "tests").rglob("*.py")}
    assert all((folder / "__init__.py").exists() for folder in folders)
