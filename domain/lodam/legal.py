"""What each seat may do now in Losing Lodam: who is waited for, and the exact list of actions.

Every predicate here is used twice: to list actions, and by `decide` to refuse the others.
"""

from typing import Final

from domain.actions import Action, Pass, Play
from domain.cards import by_card
from domain.lodam.commands import (
    AcceptTrade,
    Announce,
    Challenge,
    DeclineTrade,
    Kind,
    Leave,
    OfferTrade,
    SeeTrump,
    Take,
    WithdrawTrade,
)
from domain.lodam.rules import KIND_MASKS, PACK, THRESHOLD, highest_of_led, rightful_taker
from domain.lodam.state import LodamState
from domain.seats import Seat
from domain.tricks import playable

_PLAYS: Final[tuple[Action, ...]] = tuple(Play(card=text) for text in PACK.cards)
_ACCEPTS: Final = tuple(AcceptTrade(card=text) for text in PACK.cards)
_KINDS: Final[tuple[Kind, ...]] = ("coat", "card")
_OFFERS: Final = {
    kind: tuple(OfferTrade(kind=kind, card=text) for text in PACK.cards) for kind in _KINDS
}
_PASS: Final = Pass()
_SEE: Final = SeeTrump()
_TAKE: Final = Take()
_DECLINE: Final = DeclineTrade()
_WITHDRAW: Final = WithdrawTrade()
_ANNOUNCE: Final = Announce()


def to_act(state: LodamState) -> tuple[Seat, ...]:
    """The seats that the game waits for (common, *Actions*)."""
    match state.phase:
        case "playing":
            return (state.to_play,)
        case "trading":
            return tuple([seat for seat in sorted(state.order) if awaited_in_trading(state, seat)])
        case "trump_shown":
            return tuple(sorted(state.to_see))
        case "taking":
            return (decider(state),)
        case "reckoning":
            return tuple([seat for seat in sorted(state.order) if seat not in state.passed])
        case _:
            return ()


def awaited_in_trading(state: LodamState, seat: Seat) -> bool:
    """Whether the trading phase waits for the seat: for its answer, else for its pass."""
    if state.offer is not None:
        return may_answer(state, seat)
    return seat not in state.passed


def decider(state: LodamState) -> Seat:
    """L: who decides about the trick that lies on the table."""
    return highest_of_led(state.trick, state.strength)


def rightful(state: LodamState) -> Seat | None:
    """W: whose the trick on the table is by right, once every card of it has been played."""
    if not state.complete:
        return None
    return rightful_taker(state.trick, state.trump, state.strength)


def clear_between_tricks(state: LodamState) -> bool:
    """Whether the table is clear between two tricks: after the first and before the last is led."""
    return state.phase == "playing" and not state.trick and state.tricks > 0


def may_offer(state: LodamState, seat: Seat) -> bool:
    """Whether the seat may make an offer now, cards apart (lodam, *Trading*, ruling)."""
    if state.offer is not None or state.offered[seat] >= state.options.trade_offers:
        return False
    if state.phase == "trading":
        return seat not in state.passed
    return state.options.trading == "any_time" and clear_between_tricks(state)


def may_answer(state: LodamState, seat: Seat) -> bool:
    """Whether the seat may accept or decline the standing offer."""
    offer = state.offer
    return offer is not None and offer.seat != seat and seat not in offer.declined


def may_speak(state: LodamState, seat: Seat) -> bool:
    """Whether announcing and challenging are allowed to the seat at this moment: not before play,
    while trumps are shown, while a trick lies untaken, or once it has passed in the reckoning."""
    if not state.options.announcing:
        return False
    return state.phase == "playing" or (state.phase == "reckoning" and seat not in state.passed)


def may_announce(state: LodamState, seat: Seat) -> bool:
    """Whether the seat may announce: it stands at 31 or more and is neither due nor safe."""
    return (
        state.points[seat] >= THRESHOLD
        and seat not in state.due
        and seat not in state.safe
        and may_speak(state, seat)
    )


def may_challenge(state: LodamState, seat: Seat) -> bool:
    """Whether the seat has a challenge to make: it is due and has used none in this hand."""
    return (
        seat in state.due
        and seat not in state.challenged
        and state.options.challenging
        and may_speak(state, seat)
    )


def challengeable(state: LodamState, seat: Seat) -> list[Seat]:
    """Whom the seat may challenge: the others still in who are neither due nor safe."""
    return [
        other
        for other in sorted(state.order)
        if other != seat and other not in state.due and other not in state.safe
    ]


def nameable(state: LodamState, seat: Seat) -> list[Seat]:
    """Whom the decider may name: who played a card of another suit than the one led."""
    if seat in state.take_only:
        return []
    suit = PACK.suit_of[state.trick[0][1]]
    return sorted([player for player, card in state.trick if PACK.suit_of[card] != suit])


def must_answer_before_leading(state: LodamState, seat: Seat) -> bool:
    """Whether the leader owes an answer to another's standing offer first (`any_time`)."""
    return not state.trick and may_answer(state, seat)


def legal_cards(state: LodamState, seat: Seat) -> int:
    """The cards, as a bit mask, that the seat may play when it is its turn."""
    trick = state.trick
    return playable(state.hands[seat], PACK.suit_of[trick[0][1]] if trick else None, PACK)


def legal(state: LodamState, seat: Seat) -> list[Action]:
    """Every legal action of the seat, complete and exact."""
    phase = state.phase
    found: list[Action] = []
    if phase == "playing":
        if state.to_play == seat and not (
            state.offer is not None and must_answer_before_leading(state, seat)
        ):
            found = by_card(_PLAYS, legal_cards(state, seat))
        if not state.trick:
            _trades(state, seat, found)
        if state.points[seat] >= THRESHOLD:
            _speech(state, seat, found)
    elif phase == "trading":
        _trades(state, seat, found)
        if state.offer is None and seat not in state.passed and seat in state.order:
            found.append(_PASS)
    elif phase == "trump_shown":
        if seat in state.to_see:
            found.append(_SEE)
    elif phase == "taking":
        if decider(state) == seat:
            found.append(_TAKE)
            found.extend([Leave(seat=named) for named in nameable(state, seat)])
    elif phase == "reckoning" and seat in state.order and seat not in state.passed:
        _speech(state, seat, found)
        found.append(_PASS)
    return found


def _trades(state: LodamState, seat: Seat, found: list[Action]) -> None:
    hand = state.hands[seat]
    if may_offer(state, seat):
        for kind in _KINDS:
            found += by_card(_OFFERS[kind], hand & KIND_MASKS[kind])
    offer = state.offer
    if offer is None:
        return
    if offer.seat == seat:
        found.append(_WITHDRAW)
    elif seat in state.order and seat not in offer.declined:
        found += by_card(_ACCEPTS, hand & KIND_MASKS[offer.kind])
        found.append(_DECLINE)


def _speech(state: LodamState, seat: Seat, found: list[Action]) -> None:
    if may_announce(state, seat):
        found.append(_ANNOUNCE)
    if may_challenge(state, seat):
        found.extend([Challenge(seat=other) for other in challengeable(state, seat)])
