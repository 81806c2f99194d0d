"""What each seat may do now in Loc, and what the server does for it."""

from collections.abc import Sequence
from typing import Final

from domain.actions import Action, Play
from domain.cards import by_card
from domain.loc.commands import Bet, Discard
from domain.loc.rules import PACK, TRICKS
from domain.loc.state import LocState
from domain.seats import Seat

_BET: Final = Bet()
_DISCARDS: Final = tuple(Discard(card=text) for text in PACK.cards)
_PLAYS: Final = tuple(Play(card=text) for text in PACK.cards)


def legal(state: LocState, seat: Seat) -> list[Action]:
    """Every legal action of the seat, complete and exact."""
    if seat not in state.awaited:
        return []
    if state.phase == "betting":
        return [_BET]
    choices: Sequence[Action] = _PLAYS if state.phase == "playing" else _DISCARDS
    return by_card(choices, state.hands[seat])


def forced(state: LocState) -> tuple[Seat, Action] | None:
    """The next action that the server makes, in the order of the deal: the bet before it under
    `bets: "auto"`, and the last card of each under `auto_forced`."""
    if not state.awaited:
        return None
    if state.phase == "betting":
        return (_next(state), _BET) if state.options.bets == "auto" else None
    if state.phase == "playing" and len(state.tricks) == TRICKS - 1 and state.options.auto_forced:
        seat = _next(state)
        return seat, legal(state, seat)[0]
    return None


def _next(state: LocState) -> Seat:
    return next(seat for seat in state.order if seat in state.awaited)
