"""Ratings of players by their placings in games of several: the Plackett-Luce model of openskill
(Weng and Lin, JMLR 12, 2011). Pure: ratings in, ratings out."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from openskill.models import PlackettLuce

_MODEL: Final = PlackettLuce()


class Rating(msgspec.Struct, frozen=True):
    """What is believed of a player's strength: its mean and how uncertain that is."""

    mu: float = _MODEL.mu
    sigma: float = _MODEL.sigma

    @property
    def conservative(self) -> float:
        """What the player is worth almost surely; players are ranked by this."""
        return self.mu - 3 * self.sigma


UNKNOWN: Final = Rating()
"""What is believed of somebody of whom no game is known."""


def after_game(
    players: Sequence[str | None], placings: Sequence[int], known: Mapping[str, Rating]
) -> dict[str, Rating]:
    """The ratings of the players of a game after it, given those before it (else UNKNOWN).

    By seat: who played (None: a guest, who counts as unknown each time) and the placing, small is
    good. Whoever has several seats plays each with the same rating and gets the mean of what comes
    of them.
    """
    before = [UNKNOWN if player is None else known.get(player, UNKNOWN) for player in players]
    teams = [[_MODEL.rating(mu=rating.mu, sigma=rating.sigma)] for rating in before]
    rated = _MODEL.rate(teams, ranks=[float(placing) for placing in placings])
    found: dict[str, list[Rating]] = {}
    for player, [new] in zip(players, rated, strict=True):
        if player is not None:
            found.setdefault(player, []).append(Rating(new.mu, new.sigma))
    return {player: _mean(ratings) for player, ratings in found.items()}


def _mean(ratings: Sequence[Rating]) -> Rating:
    count = len(ratings)
    return Rating(
        sum([rating.mu for rating in ratings]) / count,
        sum([rating.sigma for rating in ratings]) / count,
    )
