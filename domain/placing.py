"""Who came where in a game that is over: the order of the table behind the winners."""

from collections.abc import Sequence

from domain.game import HandScore, Score
from domain.seats import Seat


def places(
    winners: Sequence[Seat], scores: Sequence[Score], hands: Sequence[HandScore]
) -> tuple[int, ...]:
    """The place of every seat, by seat, counted from 1; who stands alike shares a place, and the
    places behind stay empty (1, 2, 2, 4). Nothing where nobody has won.

    Winners come first. Behind them, where lives are played for, who went out later stands before
    who went out earlier, by the `hands`; else more chips stand before fewer.
    """
    if not winners:
        return ()
    standing = [
        (score.seat in winners, _last_loss(score.seat, hands), 0)
        if score.lives is not None
        else (score.seat in winners, 0, score.chips)
        for score in scores
    ]
    for seat in winners:
        standing[seat] = max(standing)
    return tuple([1 + sum(other > own for other in standing) for own in standing])


def _last_loss(seat: Seat, hands: Sequence[HandScore]) -> int:
    """The number of the last hand that cost the seat a life, 0 for none."""
    return max([hand.hand for hand in hands if hand.lives and hand.lives[seat]], default=0)
