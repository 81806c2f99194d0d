"""What becomes of each action in Loc. `decide` is the table of contents; every refusal names its
rule, and comes before anything is told."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from domain.actions import Action, Play
from domain.game import Outcome, Refused, Turn
from domain.hand import OneCard
from domain.ledger import ChipsMoved
from domain.loc.commands import Bet, Discard
from domain.loc.events import (
    BankReason,
    BetPlaced,
    BetReason,
    CardDiscarded,
    CardLaid,
    CardsShown,
    HandSettled,
)
from domain.loc.rules import JOKER, PACK, TRICKS, bet_of, highest, takes_bank, winners
from domain.loc.state import LocState, Phase
from domain.seats import Seat
from domain.telling import played_cards

LocTurn = Turn[LocState]


def decide(turn: LocTurn, seat: Seat, action: Action) -> None:
    """Tell what a seat's action brings about. Raises Refused with the rule that it breaks."""
    _DECIDE[type(action)](turn, seat, action)


def bet(turn: LocTurn, seat: Seat, _: Bet) -> None:
    """Put the stake in before the deal (loc, *Cards, stakes, deal*)."""
    _must_wait_for(turn.state, seat, "betting", "loc.bet-once", "you have put in your bet")
    _bet(turn, seat, "ante")


def discard(turn: LocTurn, seat: Seat, action: Discard) -> None:
    """Lay a card aside, face down (loc, *Play*, 1)."""
    _must_wait_for(turn.state, seat, "discarding", "loc.discard-once", "you have discarded")
    _must_hold(turn.state, seat, action.card)
    turn.tell(CardDiscarded(seat, OneCard(action.card)))


def play(turn: LocTurn, seat: Seat, action: Play) -> None:
    """Lay a card to the trick; when all have, the cards are shown (loc, *Play*, 2)."""
    state = turn.state
    _must_wait_for(state, seat, "playing", "loc.play-once", "your card lies on the table")
    _must_hold(state, seat, action.card)
    turn.tell(CardLaid(seat, len(state.tricks) + 1, OneCard(action.card)))
    if not state.awaited:
        _show(turn)


def _must_wait_for(state: LocState, seat: Seat, phase: Phase, rule: str, detail: str) -> None:
    if state.phase != phase:
        raise Refused("loc.phase", f"not while the phase is {state.phase}")
    if seat not in state.awaited:
        raise Refused(rule, detail)


def _must_hold(state: LocState, seat: Seat, text: str) -> None:
    if PACK.held(state.hands[seat], text) is None:
        raise Refused("loc.not-in-hand", f"{text} is not in your hand")


def _show(turn: LocTurn) -> None:
    """Show the laid cards and settle the trick: the bank, and the bets that follow."""
    state = turn.state
    trick = len(state.tricks) + 1
    laid = [(seat, card) for seat, card in enumerate(state.laid) if card is not None]
    best, top = highest(laid)
    bank = takes_bank(top, trick)
    turn.tell(
        CardsShown(
            trick=trick,
            cards=played_cards(laid, PACK),
            highest=best,
            bank=bank,
            opens=state.laid_versions,
        )
    )
    if bank is not None:
        _take_bank(turn, best, bank)
    if trick == TRICKS or (top == JOKER and state.options.joker == "ends_hand"):
        _settle(turn)
        return
    for seat in state.order:
        if bank is not None:
            _bet(turn, seat, "refresh")
        elif seat != best:
            _bet(turn, seat, "trick")


def _take_bank(turn: LocTurn, taker: Seat, reason: BankReason) -> None:
    """Pay the whole bank to one seat: there are no side pots (loc, *Short stacks*, ruling)."""
    bank = turn.state.ledger.pot
    changes = [0] * turn.state.seats
    changes[taker] = bank
    turn.tell(ChipsMoved(reason, tuple(changes), -bank))


def _bet(turn: LocTurn, seat: Seat, reason: BetReason) -> None:
    stake = turn.state.options.stake
    amount = bet_of(stake, turn.state.chips(seat))
    turn.tell(BetPlaced(seat, amount, reason, amount < stake))


def _settle(turn: LocTurn) -> None:
    """End the hand: who has no chips to begin another with, or has resigned, is out (loc, *Short
    stacks*; common, *Leaving*)."""
    state = turn.state
    after = state.ledger.balances
    gone = [
        seat for seat in sorted(state.order) if state.chips(seat) == 0 or seat in state.resigned
    ]
    chips = tuple([now - then for now, then in zip(after, state.before, strict=True)])
    turn.tell(HandSettled(state.hand, chips, tuple(gone)))


def outcome(state: LocState) -> Outcome | None:
    """After the last hand, or when one player is left, most chips wins; nobody does where only
    players who have resigned are left (loc, *Short stacks*, *End*)."""
    left = state.still_in
    if state.hand < state.hands_to_deal and len(left) > 1:
        return None
    return Outcome(winners({seat: state.ledger.balances[seat] for seat in left}))


_DECIDE: Final[Mapping[type[Action], Callable[[LocTurn, Seat, Any], None]]] = {
    Bet: bet,
    Discard: discard,
    Play: play,
}
