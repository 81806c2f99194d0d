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
_DOMAIN: Final = "import domain"
_EVERY_MODULE: Final = "import every module of the domain"
_VENV: Final = "python3 -m venv .venv"
_INSTALL: Final = ".venv/bin/pip install ."

_TIMED: Final = """
import time
begun = time.process_time()
import domain
print(time.process_time() - begun)
from pkgutil import walk_packages
from importlib import import_module
for found in walk_packages(domain.__path__, "domain."):
    import_module(found.name)
print(time.process_time() - begun)
"""
"""Imports are work of the processor alone, so they are told by the time on it."""


def main() -> None:
    """Print the tables of targets.md's rows *start* and *install*."""
    runs, targets = Runs(), Targets()
    for _ in range(RUNS):
        with folder() as data:
            for what in (_COLD, _WARM):
                begun = time.perf_counter()
                with fairdeal(data):
                    runs.add(what, time.perf_counter() - begun)
        for what, seconds in zip((_DOMAIN, _EVERY_MODULE), _imported(), strict=True):
            runs.add(what, seconds)
    runs.show("start", "seconds", places=3)
    installed = Runs()
    try:
        for _ in range(RUNS):
            _installed(installed)
    except subprocess.CalledProcessError as failed:
        last = (failed.stderr.strip() or "no message").splitlines()[-1]
        targets.missing(f"installation: {last}")
    installed.show("installation", "seconds", places=3)
    targets.at_most("answers, cold", runs.median(_COLD), 3, " s")
    targets.at_most("answers, warm", runs.median(_WARM), 1, " s")
    for what in (_DOMAIN, _EVERY_MODULE):
        targets.at_most(what, runs.median(what) * 1000, 100, " ms")
    targets.show()


def _imported() -> list[float]:
    done = subprocess.run(
        [sys.executable, "-c", _TIMED], cwd=_ROOT, capture_output=True, text=True, check=True
    )
    return [float(line) for line in done.stdout.split()]


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
