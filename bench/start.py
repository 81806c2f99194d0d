"""Starting: `fairdeal serve` on an empty folder and on one that has been served before, until it
answers that it is ready; imports; and an installation into a new environment."""

import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from bench.report import RUNS, Runs, Targets
from bench.serving import fairdeal, folder

_ROOT: Final = Path(__file__).parent.parent
_COLD: Final = "serve, an empty folder"
_WARM: Final = "serve again"
_DOMAIN: Final = "import domain, all of it"
_VENV: Final = "python3 -m venv .venv"
_INSTALL: Final = ".venv/bin/pip install ."

_TIMED: Final = """
import time
begun = time.perf_counter()
import domain
from pkgutil import walk_packages
from importlib import import_module
for found in walk_packages(domain.__path__, "domain."):
    import_module(found.name)
print(time.perf_counter() - begun)
"""


def main() -> None:
    """Print the tables of targets.md's rows *start* and *install*."""
    runs, targets = Runs(), Targets()
    for _ in range(RUNS):
        with folder() as data:
            for what in (_COLD, _WARM):
                begun = time.perf_counter()
                with fairdeal(data):
                    runs.add(what, time.perf_counter() - begun)
        runs.add(_DOMAIN, _imported())
    try:
        for _ in range(RUNS):
            _installed(runs)
    except subprocess.CalledProcessError as failed:
        last = (failed.stderr.strip() or "no message").splitlines()[-1]
        targets.missing(f"installation: {last}")
    runs.show("start", "seconds", places=2)
    targets.at_most("answers, cold", runs.median(_COLD), 3, " s")
    targets.at_most("answers, warm", runs.median(_WARM), 1, " s")
    targets.at_most(_DOMAIN, runs.median(_DOMAIN) * 1000, 100, " ms")
    targets.show()


def _imported() -> float:
    done = subprocess.run(
        [sys.executable, "-c", _TIMED], cwd=_ROOT, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def _installed(runs: Runs) -> None:
    """The README's two commands, in a folder of their own."""
    with folder() as bare:
        checkout = bare / "fairdeal"
        kept = shutil.ignore_patterns(".git", ".venv*", "*_cache", "__pycache__", "node_modules")
        shutil.copytree(_ROOT, checkout, ignore=kept)
        commands = {
            _VENV: [sys.executable, "-m", "venv", ".venv"],
            _INSTALL: [".venv/bin/pip", "install", "-q", "."],
        }
        for what, command in commands.items():
            begun = time.perf_counter()
            subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True)
            runs.add(what, time.perf_counter() - begun)
        subprocess.run(
            [".venv/bin/fairdeal", "--help"], cwd=checkout, capture_output=True, check=True
        )
