"""What each seat may do now in Lorum: who is waited for, the exact list of actions, and what is
compulsory.

Every predicate here is used twice: to list actions, and by `decide` to refuse the others.
"""

from typing import Final

from domain.actions import Action, Pass, Play
from domain.cards import by_card
from domain.lorum.contracts import TRICK_CONTRACTS
from domain.lorum.rules import PACK, SEATS, taker_of
from domain.lorum.state import LorumState
from domain.seats import Seat

_PLAYS: Final[tuple[Action, ...]] = tuple(Play(card=text) for text in PACK.cards)
_PASS: Final = Pass()

CONTRACTS_WITH_PASSING: Final = frozenset(["fast_train", "lorum"])


def to_act(state: LorumState) -> tuple[Seat, ...]:
    """The seat that the game waits for: whose turn it is; in quads the holder of the continuation,
    since the play is compulsory (lorum, *Quads*, ruling)."""
    return (state.to_play,) if state.phase == "playing" else ()


def playable_cards(state: LorumState, seat: Seat) -> int:
    """The cards, as a bit mask, that the seat may play when it is its turn: those that fit; in a
    trick any, where none does."""
    hand = state.hands[seat]
    fitting = hand & state.fits
    return hand if not fitting and state.contract in TRICK_CONTRACTS else fitting


def must_pass(state: LorumState) -> bool:
    """Whether the player whose turn it is cannot play, in a contract where one then passes (lorum,
    *Fast train*, *Lorum*)."""
    return state.contract in CONTRACTS_WITH_PASSING and not (
        state.hands[state.to_play] & state.fits
    )


def rightful(state: LorumState) -> Seat | None:
    """Whose the trick on the table is, once every card of it has been played."""
    complete = state.contract in TRICK_CONTRACTS and len(state.on_table) == SEATS
    return taker_of(state.on_table) if complete else None


def legal(state: LorumState, seat: Seat) -> list[Action]:
    """Every legal action of the seat, complete and exact."""
    if seat != state.to_play or state.phase != "playing":
        return []
    bits = playable_cards(state, seat)
    if not bits:
        return [_PASS]
    return by_card(_PLAYS, bits)


def forced(state: LorumState) -> tuple[Seat, Action] | None:
    """What the server does under `auto_forced`: the continuation in quads, and the pass of a player
    who cannot play. A lone legal card elsewhere would tell about the hand (lorum, *Shedding
    contracts*)."""
    if not state.options.auto_forced or state.phase != "playing":
        return None
    if must_pass(state):
        return state.to_play, _PASS
    if state.contract == "quads" and state.on_table:
        return state.to_play, _PLAYS[state.fits.bit_length() - 1]
    return None
