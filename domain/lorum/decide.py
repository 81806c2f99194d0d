"""What becomes of each action in Lorum. `decide` is the table of contents; every refusal names its
rule, and comes before anything is told."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from domain.actions import Action, Pass, Play
from domain.game import Outcome, Refused, Turn
from domain.ledger import ChipsMoved
from domain.lorum.contracts import TRICK_CONTRACTS, contract_of
from domain.lorum.events import ContractAnnounced, RoundScored, RunCompleted
from domain.lorum.legal import CONTRACTS_WITH_PASSING, playable_cards
from domain.lorum.payments import (
    cards_left_into_pot,
    cards_left_paid,
    monkey_paid,
    penalties_paid,
    pot_shared,
    pot_won,
)
from domain.lorum.rules import LONGEST_RUN, PACK, SEATS, penalties_are_gone, taker_of
from domain.lorum.state import LorumState, counted
from domain.seats import Seat
from domain.tricks import CardPlayed, Passed, TrickTaken

LorumTurn = Turn[LorumState]


def begin(turn: LorumTurn) -> None:
    """Announce the contract in the same step as the round starts (lorum, *Cards, deal,
    direction*)."""
    state = turn.state
    contract = contract_of(state.hand, state.options.first_contract)
    turn.tell(ContractAnnounced(state.hand, contract.name))


def decide(turn: LorumTurn, seat: Seat, action: Action) -> None:
    """Tell what a seat's action brings about. Raises Refused with the rule that it breaks."""
    if turn.state.to_play != seat:
        raise Refused("lorum.turn", "it is another player's turn")
    _DECIDE[type(action)](turn, seat, action)


_UNPLAYABLE: Final = {
    "quads": ("lorum.continuation", "the next higher card of the run's suit must be played"),
    "fast_train": ("lorum.next-rank", "a card one rank higher than the last must be played"),
    "lorum": ("lorum.layout", "the card neither begins a suit nor goes on with one"),
}


def play(turn: LorumTurn, seat: Seat, action: Play) -> None:
    """Play a card that fits what lies on the table (lorum, *Trick contracts*, *Shedding
    contracts*)."""
    state = turn.state
    contract = state.contract
    assert contract is not None
    card = PACK.held(state.hands[seat], action.card)
    if card is None:
        raise Refused("lorum.not-in-hand", f"{action.card} is not in your hand")
    if not playable_cards(state, seat) >> card & 1:
        if contract in TRICK_CONTRACTS:
            raise Refused("lorum.follow-suit", "you hold a card of the suit led")
        raise Refused(*_UNPLAYABLE[contract])
    turn.tell(CardPlayed(seat, action.card))
    if contract in TRICK_CONTRACTS:
        if len(state.on_table) == SEATS:
            _take_trick(turn)
    elif not state.hands[seat]:
        _score_shedding(turn)
    elif contract == "quads" and _run_is_complete(state):
        turn.tell(RunCompleted(seat, len(state.runs) + 1))


def pass_(turn: LorumTurn, seat: Seat, _: Pass) -> None:
    """Pass, unable to play; in contract 7 that costs a chip (lorum, *Fast train*, *Lorum*)."""
    state = turn.state
    if state.contract not in CONTRACTS_WITH_PASSING:
        raise Refused("lorum.no-passing", "nobody passes in this contract")
    if playable_cards(state, seat):
        raise Refused("lorum.must-play", "you hold a card that can be played")
    turn.tell(Passed(seat))
    if state.contract == "lorum":
        turn.tell(ChipsMoved("pass", counted((0,) * SEATS, seat, -1), 1))


def _run_is_complete(state: LorumState) -> bool:
    """Whether four cards lie in order, or the next one is in nobody's hand (lorum, *Quads*)."""
    return len(state.on_table) == LONGEST_RUN or not any(
        [hand & state.fits for hand in state.hands]
    )


def _take_trick(turn: LorumTurn) -> None:
    """Give the trick to its taker, and score the round after the last one, or when no penalty is
    left (lorum, *Trick contracts*, ruling `early_end`)."""
    state = turn.state
    assert state.contract is not None
    taker = taker_of(state.on_table)
    turn.tell(TrickTaken(taker, state.tricks + 1))
    gone = state.options.early_end and penalties_are_gone(state.contract, state.penalties)
    if gone or not any(state.hands):
        payments = monkey_paid if state.contract == "hairy_monkey" else penalties_paid
        turn.tell(ChipsMoved("penalties", *payments(state.penalties)))
        _score(turn, state.penalties)


def _score_shedding(turn: LorumTurn) -> None:
    """A player has no card left: the others pay for theirs. In contract 7 they pay into the pot,
    which then goes to that player (lorum, *Shedding contracts*)."""
    state = turn.state
    left = tuple([hand.bit_count() for hand in state.hands])
    if state.contract == "lorum":
        turn.tell(ChipsMoved("cards_left", *cards_left_into_pot(left)))
        turn.tell(ChipsMoved("payout", *pot_won(left, state.ledger.pot)))
    else:
        turn.tell(ChipsMoved("cards_left", *cards_left_paid(left)))
    _score(turn, left)


def _score(turn: LorumTurn, points: tuple[int, ...]) -> None:
    state = turn.state
    assert state.contract is not None
    now = state.ledger.balances
    turn.tell(
        RoundScored(
            hand=state.hand,
            contract=state.contract,
            points=points,
            passes=state.passes,
            chips=tuple([new - old for new, old in zip(now, state.balances, strict=True)]),
            pot=state.ledger.pot,
        )
    )


def outcome(state: LorumState) -> Outcome | None:
    """After the last round most chips wins, and equal balances share the win; who has resigned
    cannot win, and the result marks it (lorum, *End*; common, *Leaving*)."""
    if state.hand < state.options.rounds:
        return None
    chips = {
        seat: balance
        for seat, balance in enumerate(state.ledger.balances)
        if seat not in state.resigned
    }
    most = max(chips.values(), default=0)
    winners = tuple([seat for seat, balance in chips.items() if balance == most])
    return Outcome(winners, "resigned" if state.resigned else "played")


def finish(turn: LorumTurn, _: Outcome) -> None:
    """Share out what is left in the pot (lorum, *End*, ruling)."""
    pot = turn.state.ledger.pot
    if pot >= SEATS:
        turn.tell(ChipsMoved("pot_shared", *pot_shared(SEATS, pot)))


_DECIDE: Final[Mapping[type[Action], Callable[[LorumTurn, Seat, Any], None]]] = {
    Play: play,
    Pass: pass_,
}
