"""How a measurement is told: figures of several runs side by side, and the targets for them."""

import statistics
from typing import Final

from rich.console import Console
from rich.table import Table

from bench.machine import described

RUNS: Final = 5
"""Runs of each line at least; lines of one table take turns, so that all meet the same machine."""


def console() -> Console:
    """Where tables go."""
    return Console(width=110)


class Runs:
    """Figures of several runs, by what was measured, in the order in which that first came."""

    def __init__(self) -> None:
        self._figures: Final[dict[str, list[float]]] = {}

    def add(self, what: str, figure: float) -> None:
        """One run's figure."""
        self._figures.setdefault(what, []).append(figure)

    def __contains__(self, what: str) -> bool:
        return what in self._figures

    def median(self, what: str) -> float:
        """The middle of the runs. Raises KeyError where nothing was measured."""
        return statistics.median(self._figures[what])

    def ratio(self, what: str, to: str) -> float:
        """The middle of the runs' own ratios: both figures of each are from the same minute."""
        pairs = zip(self._figures[what], self._figures[to], strict=True)
        return statistics.median([ours / theirs for ours, theirs in pairs])

    def show(self, title: str, unit: str, places: int = 0) -> None:
        """Print the median, lowest and highest of every line."""
        shown = Table(title=f"{title}: {unit}, {max(map(len, self._figures.values()))} runs")
        for heading in ("", "median", "lowest", "highest"):
            shown.add_column(heading, justify="right" if heading else "left")
        for what, found in self._figures.items():
            figures = (statistics.median(found), min(found), max(found))
            shown.add_row(what, *[f"{figure:,.{places}f}" for figure in figures])
        console().print(shown)


class Targets:
    """What is wanted, what was found, whether that is met; and peers that were not to be had."""

    def __init__(self) -> None:
        self._table: Final = Table("target", "wanted", "found", "met")
        self._missing: Final[list[str]] = []

    def at_least(self, what: str, found: float, wanted: float, unit: str = "") -> None:
        """A figure that is to be high."""
        self._add(what, f">= {_short(wanted)}{unit}", f"{_short(found)}{unit}", found >= wanted)

    def at_most(self, what: str, found: float, wanted: float, unit: str = "") -> None:
        """A figure that is to be low."""
        self._add(what, f"<= {_short(wanted)}{unit}", f"{_short(found)}{unit}", found <= wanted)

    def missing(self, why: str) -> None:
        """A peer that was not measured, and why."""
        if why not in self._missing:
            self._missing.append(why)

    def show(self) -> None:
        """Print all of it, and the machine."""
        out = console()
        if self._table.row_count:
            out.print(self._table)
        for why in self._missing:
            out.print(f"not measured: {why}", markup=False)
        out.print(described(), highlight=False)

    def _add(self, what: str, wanted: str, found: str, met: bool) -> None:
        self._table.add_row(what, wanted, found, "yes" if met else "[bold]NO[/bold]")


def _short(figure: float) -> str:
    """With as many digits as tell something."""
    if abs(figure) >= 100:
        return f"{figure:,.0f}"
    return f"{figure:.3g}"
