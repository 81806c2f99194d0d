"""What Losing Lodam shows: the public table, a seat's own cards and tricks, an opened hand.

Nothing here looks at what its reader may not know: the table is built from public facts, and the
turned trump is shown only while the caller says that it lies open.
"""

import msgspec

from domain.cards import by_card
from domain.game import HandScore, Opened, Private, Score
from domain.lodam.commands import Kind
from domain.lodam.events import Reached
from domain.lodam.rules import PACK
from domain.lodam.state import LodamState
from domain.seats import Seat
from domain.telling import PlayedCard, played_cards


class OfferView(msgspec.Struct, frozen=True):
    """The standing offer, and who has declined it."""

    number: int
    seat: Seat
    kind: Kind
    declined: tuple[Seat, ...]


class ChallengeView(msgspec.Struct, frozen=True):
    """A challenge of this hand and its verdict; `points` and `reached` are the challenger's and
    the challenged player's, and `version` is that of the verdict."""

    number: int
    seat: Seat
    challenged: Seat
    upheld: bool
    points: tuple[int, int]
    reached: tuple[Reached | None, Reached | None]
    version: int


class LodamTable(msgspec.Struct, frozen=True):
    """The table of Losing Lodam as everyone sees it."""

    trick: tuple[PlayedCard, ...]
    led: str | None
    stock: int
    trump: str | None
    """The suit of trumps while the turned card lies open."""
    trump_card: str | None
    trump_turned: bool
    taken: tuple[int, ...]
    offer: OfferView | None
    due: tuple[Seat, ...]
    safe: tuple[Seat, ...]
    take_only: tuple[Seat, ...]
    passed: tuple[Seat, ...]
    challenges: tuple[ChallengeView, ...]


def table_view(state: LodamState, show_face_up: bool) -> LodamTable:
    """The public table; the turned card shows while it lies open and `show_face_up` allows it."""
    offer = state.offer
    shown = state.turned if state.on_view and show_face_up else None
    return LodamTable(
        trick=played_cards(state.trick, PACK),
        led=PACK.suits[PACK.suit_of[state.trick[0][1]]] if state.trick else None,
        stock=len(state.stock),
        trump=None if shown is None else PACK.suits[PACK.suit_of[shown]],
        trump_card=None if shown is None else PACK.cards[shown],
        trump_turned=state.turned is not None,
        taken=tuple([len(tricks) for tricks in state.taken]) or (0,) * state.seats,
        offer=None
        if offer is None
        else OfferView(offer.number, offer.seat, offer.kind, tuple(sorted(offer.declined))),
        due=tuple(sorted(state.due)),
        safe=tuple(sorted(state.safe)),
        take_only=tuple(sorted(state.take_only)),
        passed=tuple(sorted(state.passed)),
        challenges=tuple(
            [
                ChallengeView(
                    v.number, v.seat, v.challenged, v.upheld, v.points, v.reached, v.version
                )
                for v in state.verdicts
            ]
        ),
    )


def private_view(state: LodamState, seat: Seat) -> Private:
    """A seat's own hand, tricks and points."""
    if not state.hands:
        return Private(())
    return Private(
        cards=tuple(by_card(PACK.cards, state.hands[seat])),
        tricks=tuple([PACK.texts(trick.cards) for trick in state.taken[seat]]),
        points=state.points[seat],
    )


def opened_view(state: LodamState) -> Opened:
    """Everything that was hidden, for a hand that has been opened."""
    return Opened(
        hands=tuple([tuple(by_card(PACK.cards, hand)) for hand in state.hands]),
        stock=PACK.texts(state.stock),
        turned=None if state.turned is None else PACK.cards[state.turned],
    )


def scores(state: LodamState) -> tuple[Score, ...]:
    """Where each seat stands. Points are the running score of cumulative scoring, else the sum of
    all hands so far."""
    if state.options.scoring == "cumulative":
        points = state.running
    else:
        points = tuple([sum([h.points[s] for h in state.history]) for s in range(state.seats)])
    return tuple(
        [
            Score(seat, state.lives[seat], state.ledger.balances[seat], points[seat])
            for seat in range(state.seats)
        ]
    )


def hand_scores(state: LodamState) -> tuple[HandScore, ...]:
    """What each finished hand brought."""
    return state.history


def still_in(state: LodamState) -> tuple[bool, ...]:
    """By seat: whether the player has a life left."""
    return tuple([lives > 0 for lives in state.lives])
