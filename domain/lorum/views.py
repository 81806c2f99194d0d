"""What Lorum shows: the public table, a seat's own cards and tricks, an opened hand.

The table is built from public facts alone.
"""

import msgspec

from domain.cards import by_card
from domain.game import HandScore, Opened, Private, Score
from domain.lorum.contracts import BY_NAME, ContractName
from domain.lorum.rules import PACK, SEATS
from domain.lorum.state import LorumState
from domain.seats import Seat
from domain.telling import PlayedCard, played_cards


class SpanView(msgspec.Struct, frozen=True):
    """The cards of a suit that lie in the layout, by rank: from `low`, the start rank, to `high`,
    round the corner."""

    low: str
    high: str


class LayoutView(msgspec.Struct, frozen=True):
    """The layout: each suit's cards, null until it is begun, and the start rank."""

    A: SpanView | None
    L: SpanView | None
    H: SpanView | None
    B: SpanView | None
    start: str | None


class LorumTable(msgspec.Struct, frozen=True):
    """The table of Lorum as everyone sees it. Of `trick`, `run` and `layout` it has the one that
    the contract plays with, and none before the first round."""

    contract: ContractName | None
    round: int
    taken: tuple[int, ...]
    """Tricks."""
    penalties: tuple[int, ...]
    """What they cost."""
    passes: tuple[int, ...]
    pot: int
    trick: tuple[PlayedCard, ...] | msgspec.UnsetType = msgspec.UNSET
    run: tuple[PlayedCard, ...] | msgspec.UnsetType = msgspec.UNSET
    layout: LayoutView | msgspec.UnsetType = msgspec.UNSET


def table_view(state: LorumState, _: bool) -> LorumTable:
    """The public table; no card that lies on it is ever covered again."""
    table = LorumTable(
        contract=state.contract,
        round=state.hand,
        taken=tuple([len(tricks) for tricks in state.taken]),
        penalties=state.penalties,
        passes=state.passes,
        pot=state.ledger.pot,
    )
    if state.contract is None:
        return table
    kind = BY_NAME[state.contract].on_table
    shown = layout_view(state) if kind == "layout" else played_cards(state.on_table, PACK)
    return msgspec.structs.replace(table, **{kind: shown})


def layout_view(state: LorumState) -> LayoutView:
    """Each suit from the start rank to the last card laid."""
    spans: dict[str, SpanView | None] = dict.fromkeys(PACK.suits)
    start = PACK.ranks[PACK.rank(state.on_table[0][1])] if state.on_table else ""
    for _, card in state.on_table:
        spans[PACK.suits[PACK.suit_of[card]]] = SpanView(start, PACK.ranks[PACK.rank(card)])
    return LayoutView(**spans, start=start or None)


def private_view(state: LorumState, seat: Seat) -> Private:
    """A seat's own hand, tricks and what they cost."""
    if not state.hands:
        return Private(())
    return Private(
        cards=tuple(by_card(PACK.cards, state.hands[seat])),
        tricks=tuple([PACK.texts(trick) for trick in state.taken[seat]]),
        points=state.penalties[seat],
    )


def opened_view(state: LorumState) -> Opened:
    """The cards left in every hand, once it has been opened; there is no stock."""
    return Opened(hands=tuple([tuple(by_card(PACK.cards, hand)) for hand in state.hands]), stock=())


def scores(state: LorumState) -> tuple[Score, ...]:
    """Where each seat stands: chips are all that counts."""
    return tuple(
        [Score(seat, None, chips, None) for seat, chips in enumerate(state.ledger.balances)]
    )


def hand_scores(state: LorumState) -> tuple[HandScore, ...]:
    """What each finished round brought."""
    return state.history


def still_in(_: LorumState) -> tuple[bool, ...]:
    """By seat: everyone plays to the end."""
    return (True,) * SEATS
