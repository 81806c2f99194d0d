"""How everyone came out of a game that is over, place by place. Knows no particular game.

Source: rules, *End* of each game: winners come first. The rest are ranked by what the games have in
common: lives left, how long one lasted, chips.
"""

import msgspec

from domain.seats import Seat
from domain.table.state import Table


class Standing(msgspec.Struct, frozen=True):
    """How a seat came out. `placing` counts from 1; seats that share one share the best of them.

    `chips` is what the seat gained over the game (below zero: lost), `lives` how many lives it
    lost.
    """

    seat: Seat
    placing: int
    won: bool
    chips: int
    lives: int


def standings(table: Table) -> tuple[Standing, ...] | None:
    """By seat, how everyone came out of the game; None where it has not been played to an end.

    An abandoned game has no placings. Winners are first. Of the others, more lives are better,
    then having kept one for more hands, then more chips gained; who has resigned comes after all
    who have not.
    """
    result = table.result
    if table.status != "finished" or result is None:
        return None
    game = table.game
    first = game.scores(game.initial(table.options, len(table.seats)))
    last = game.scores(table.play)
    lasted = _lasted(table, [score.lives for score in first])
    gained = [now.chips - before.chips for before, now in zip(first, last, strict=True)]

    def rank(seat: Seat) -> tuple[int, ...]:
        """Smaller is better."""
        if seat in result.winners:
            return (0,)
        left = last[seat].lives or 0
        return (1, table.seats[seat].resigned, -left, -lasted[seat], -gained[seat])

    ranks = [rank(seat) for seat in range(len(table.seats))]
    return tuple(
        [
            Standing(
                seat=seat,
                placing=1 + sum([other < own for other in ranks]),
                won=seat in result.winners,
                chips=gained[seat],
                lives=(first[seat].lives or 0) - (last[seat].lives or 0),
            )
            for seat, own in enumerate(ranks)
        ]
    )


def _lasted(table: Table, lives: list[int | None]) -> list[int]:
    """By seat: the last hand that it was in with a life; in a game without lives, 0 for all."""
    left = [count or 0 for count in lives]
    lasted = [0] * len(left)
    for hand in table.game.hand_scores(table.play):
        if hand.lives is None:
            continue
        for seat, change in enumerate(hand.lives):
            if left[seat] > 0:
                left[seat] += change
                lasted[seat] = hand.hand
    return lasted
