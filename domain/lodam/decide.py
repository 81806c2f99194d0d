"""What becomes of each action in Losing Lodam. `decide` is the table of contents; every refusal
names its rule, and comes before anything is told."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from domain.actions import Action, Pass, Play
from domain.cards import Card
from domain.game import Outcome, Refused, Turn
from domain.hand import OneCard
from domain.ledger import ChipsMoved
from domain.lodam.commands import (
    AcceptTrade,
    Announce,
    Challenge,
    DeclineTrade,
    Leave,
    OfferTrade,
    SeeTrump,
    Take,
    WithdrawTrade,
)
from domain.lodam.events import (
    Announced,
    ChallengeDecided,
    HandScored,
    TradeConcluded,
    TradedCards,
    TradeDeclined,
    TradeLapsed,
    TradeOffered,
    TradeWithdrawn,
    TrickLeft,
    TrumpCovered,
    TrumpSeen,
    TrumpTurned,
)
from domain.lodam.legal import (
    challengeable,
    decider,
    legal_cards,
    may_answer,
    may_challenge,
    may_offer,
    may_speak,
    must_answer_before_leading,
    nameable,
)
from domain.lodam.rules import (
    KIND_MASKS,
    PACK,
    THRESHOLD,
    all_follow,
    highest_of_led,
    lives_lost_per_hand,
    rightful_taker,
    spared_if_all_out,
)
from domain.lodam.state import LodamState
from domain.seats import Seat
from domain.tricks import CardPlayed, Passed, Swallowed, TrickTaken

LodamTurn = Turn[LodamState]


def begin(turn: LodamTurn) -> None:
    """Collect the stakes in the same step as the first hand starts (lodam, option `stake`)."""
    stake, seats = turn.state.options.stake, turn.state.seats
    if stake and turn.state.hand == 1:
        turn.tell(ChipsMoved("stake", (-stake,) * seats, stake * seats))


def decide(turn: LodamTurn, seat: Seat, action: Action) -> None:
    """Tell what a seat's action brings about. Raises Refused with the rule that it breaks."""
    _DECIDE[type(action)](turn, seat, action)


def play(turn: LodamTurn, seat: Seat, action: Play) -> None:
    """Play a card to the trick, following suit if able (lodam, *Play*)."""
    state = turn.state
    if state.phase != "playing":
        raise Refused("lodam.phase", f"no card is played while the phase is {state.phase}")
    if state.to_play != seat:
        raise Refused("lodam.turn", "it is another player's turn")
    if state.offer is not None and must_answer_before_leading(state, seat):
        raise Refused("lodam.answer-first", "answer the standing offer before leading")
    card = PACK.held(state.hands[seat], action.card)
    if card is None:
        raise Refused("lodam.not-in-hand", f"{action.card} is not in your hand")
    suit_of = PACK.suit_of
    if not legal_cards(state, seat) >> card & 1:
        led = PACK.suits[suit_of[state.trick[0][1]]]
        raise Refused("lodam.follow-suit", f"you hold a card of the suit led ({led})")
    lapsed = state.offer
    turn.tell(CardPlayed(seat, action.card))
    trick = state.trick
    if lapsed is not None:
        turn.tell(TradeLapsed(lapsed.seat, lapsed.number))
    if state.trump is None and suit_of[trick[0][1]] != suit_of[card]:
        turn.tell(TrumpTurned(OneCard(PACK.cards[state.stock[0]])))
    if len(trick) == len(state.order):
        _settle_without_decision(turn)


def _settle_without_decision(turn: LodamTurn) -> None:
    """Give a complete trick to its taker where nobody decides: every card followed suit, or trumps
    lie open and the engine gives it to the rightful taker."""
    state = turn.state
    if all_follow(state.trick):
        # Of trumps or not: the highest card of the suit has the trick by right.
        taker = highest_of_led(state.trick, state.strength)
        _give(turn, taker, taker)
    elif state.options.trump == "open":
        taker = rightful_taker(state.trick, state.trump, state.strength)
        _give(turn, taker, taker)


def _give(turn: LodamTurn, taker: Seat, rightful: Seat) -> None:
    """Give the trick to a seat, and score the hand after the last one where nobody announces."""
    state = turn.state
    turn.tell(TrickTaken(taker, state.tricks + 1, Swallowed(taker != rightful)))
    if state.phase == "reckoning" and not state.options.announcing:
        score(turn)


def see_trump(turn: LodamTurn, seat: Seat, _: SeeTrump) -> None:
    """Have seen the trump; when all have, it is covered (lodam, *Play*, `trump: "memory"`)."""
    state = turn.state
    if state.phase != "trump_shown":
        raise Refused("lodam.phase", "no trump is being shown")
    if seat not in state.to_see:
        raise Refused("lodam.seen-trump", "you have seen the trump")
    turn.tell(TrumpSeen(seat))
    if not state.to_see:
        turn.tell(TrumpCovered())


def take(turn: LodamTurn, seat: Seat, _: Take) -> None:
    """Take the trick on the table, rightful or not (lodam, *Taking a trick and swallowing it*)."""
    state = turn.state
    _must_decide(state, seat)
    _give(turn, seat, rightful_taker(state.trick, state.trump, state.strength))


def leave(turn: LodamTurn, seat: Seat, action: Leave) -> None:
    """Leave the trick to the player who trumped it; who is wrong takes it, and may only take for
    the rest of the hand (lodam, *Taking a trick and swallowing it*, ruling)."""
    state = turn.state
    _must_decide(state, seat)
    if seat in state.take_only:
        raise Refused("lodam.take-only", "you have left a trick wrongly in this hand: take it")
    if action.seat not in nameable(state, seat):
        raise Refused("lodam.leave-to", f"seat {action.seat} played no card of another suit")
    rightful = rightful_taker(state.trick, state.trump, state.strength)
    believed = action.seat == rightful
    turn.tell(TrickLeft(seat, action.seat, believed))
    _give(turn, action.seat if believed else seat, rightful)


def _must_decide(state: LodamState, seat: Seat) -> None:
    if state.phase != "taking":
        raise Refused("lodam.phase", "no trick lies on the table to be taken")
    if decider(state) != seat:
        raise Refused("lodam.turn", "another player has the highest card of the suit led")


def offer_trade(turn: LodamTurn, seat: Seat, action: OfferTrade) -> None:
    """Offer a card to trade (lodam, *Trading*)."""
    state = turn.state
    if state.options.trading == "off" or state.options.trade_offers == 0:
        raise Refused("lodam.trading", "this game has no trading")
    if state.offer is not None:
        raise Refused("lodam.one-offer", "an offer stands already")
    if state.offered[seat] >= state.options.trade_offers:
        raise Refused("lodam.trade-offers", "you have made all your offers of this hand")
    if not may_offer(state, seat):
        raise Refused("lodam.trading-time", "you cannot offer a trade now")
    _tradable(state, seat, action.card, KIND_MASKS[action.kind], action.kind)
    turn.tell(TradeOffered(seat, state.offers + 1, action.kind, OneCard(action.card)))


def accept_trade(turn: LodamTurn, seat: Seat, action: AcceptTrade) -> None:
    """Accept the standing offer; cards of one suit annul it (lodam, *Trading*)."""
    state = turn.state
    _must_answer(state, seat)
    offer = state.offer
    assert offer is not None
    card = _tradable(state, seat, action.card, KIND_MASKS[offer.kind], offer.kind)
    turn.tell(
        TradeConcluded(
            (offer.seat, seat),
            offer.number,
            PACK.suit_of[card] == PACK.suit_of[offer.card],
            TradedCards(PACK.cards[offer.card], action.card),
        )
    )


def decline_trade(turn: LodamTurn, seat: Seat, _: DeclineTrade) -> None:
    """Decline the standing offer; when all others have, it lapses (lodam, *Trading*)."""
    state = turn.state
    _must_answer(state, seat)
    offer = state.offer
    assert offer is not None
    turn.tell(TradeDeclined(seat, offer.number))
    if len(offer.declined) + 1 == len(state.order) - 1:
        turn.tell(TradeLapsed(offer.seat, offer.number))


def withdraw_trade(turn: LodamTurn, seat: Seat, _: WithdrawTrade) -> None:
    """Take one's own offer back (lodam, *Trading*)."""
    offer = turn.state.offer
    if offer is None:
        raise Refused("lodam.no-offer", "no offer stands")
    if offer.seat != seat:
        raise Refused("lodam.withdraw-own", "the standing offer is another player's")
    turn.tell(TradeWithdrawn(seat, offer.number))


def _must_answer(state: LodamState, seat: Seat) -> None:
    if state.offer is None:
        raise Refused("lodam.no-offer", "no offer stands")
    if state.offer.seat == seat:
        raise Refused("lodam.own-offer", "you cannot answer your own offer")
    if not may_answer(state, seat):
        raise Refused("lodam.declined", "you have declined this offer")


def _tradable(state: LodamState, seat: Seat, text: str, kind_mask: int, kind: str) -> Card:
    card = PACK.held(state.hands[seat], text)
    if card is None:
        raise Refused("lodam.not-in-hand", f"{text} is not in your hand")
    if not kind_mask >> card & 1:
        raise Refused("lodam.trade-kind", f"{text} is no {kind}")
    return card


def pass_(turn: LodamTurn, seat: Seat, _: Pass) -> None:
    """Pass in the trading phase or the reckoning (lodam, *Trading*, *Reckoning*)."""
    state = turn.state
    if state.phase not in ("trading", "reckoning"):
        raise Refused("lodam.phase", f"nobody passes while the phase is {state.phase}")
    if state.offer is not None:
        raise Refused("lodam.offer-stands", "answer or withdraw the standing offer first")
    if seat in state.passed:
        raise Refused("lodam.passed", "you have passed")
    turn.tell(Passed(seat))
    if state.phase == "reckoning" and len(state.passed) == len(state.order):
        score(turn)


def announce(turn: LodamTurn, seat: Seat, _: Announce) -> None:
    """Announce 31 or more (lodam, *Announcing*)."""
    state = turn.state
    _must_be_allowed_to_speak(state, seat)
    if state.points[seat] < THRESHOLD:
        raise Refused("lodam.below-31", "your tricks of this hand have not reached 31")
    if seat in state.due:
        raise Refused("lodam.already-due", "you are due to lose a life already")
    if seat in state.safe:
        raise Refused("lodam.safe", "you are safe for the rest of the hand")
    turn.tell(Announced(seat))


def challenge(turn: LodamTurn, seat: Seat, action: Challenge) -> None:
    """Challenge another player; the verdict comes from the log (lodam, *Challenging*)."""
    state = turn.state
    if not state.options.challenging:
        raise Refused("lodam.challenging", "this game has no challenging")
    _must_be_allowed_to_speak(state, seat)
    if seat not in state.due:
        raise Refused("lodam.not-due", "only who is due to lose a life may challenge")
    if not may_challenge(state, seat):
        raise Refused("lodam.challenged-once", "you have challenged in this hand")
    other = action.seat
    if other not in challengeable(state, seat):
        raise Refused(
            "lodam.challenge-whom",
            f"seat {other} is not another player still in who is neither due nor safe",
        )
    mine, theirs = state.reached[seat], state.reached[other]
    assert mine is not None
    turn.tell(
        ChallengeDecided(
            seat,
            other,
            theirs is not None and theirs.trick < mine.trick,
            (state.points[seat], state.points[other]),
            (mine, theirs),
        )
    )


def _must_be_allowed_to_speak(state: LodamState, seat: Seat) -> None:
    if not state.options.announcing:
        raise Refused("lodam.announcing", "this game has no announcing")
    if state.phase == "reckoning" and seat in state.passed:
        raise Refused("lodam.passed", "you have passed")
    if not may_speak(state, seat):
        raise Refused(
            "lodam.speak-later",
            "not before play, while trumps are shown, or while a trick lies untaken",
        )


def score(turn: LodamTurn) -> None:
    """Score the finished hand (lodam, *Reckoning and the end of a hand*)."""
    state = turn.state
    cumulative = state.options.scoring == "cumulative"
    playing = [seat for seat in state.order if seat not in state.resigned]
    total = {
        seat: state.points[seat] + (state.running[seat] if cumulative else 0)
        for seat in state.order
    }
    over = frozenset([seat for seat in state.order if total[seat] >= THRESHOLD])
    if cumulative:
        losers = over
    else:
        losers = lives_lost_per_hand(state.due if state.options.announcing else over, total)
    if playing:
        losers = spared_if_all_out(
            losers,
            {seat: state.lives[seat] for seat in playing},
            {seat: total[seat] for seat in playing},
        )
    lost = [0] * state.seats
    running = list(state.running)
    for seat in state.order:
        if seat in state.resigned:
            lost[seat] = state.lives[seat]
        elif seat in losers:
            lost[seat] = 1
        if cumulative:
            running[seat] = 0 if seat in over else total[seat]
    turn.tell(
        HandScored(
            hand=state.hand,
            points=state.points,
            lost=tuple(lost),
            lives=tuple([n - m for n, m in zip(state.lives, lost, strict=True)]),
            running=tuple(running),
        )
    )


def outcome(state: LodamState) -> Outcome | None:
    """The last player left wins; where all have resigned nobody does (lodam, *Reckoning*; common,
    *Leaving*)."""
    left = sorted(state.still_in)
    return Outcome(tuple(left)) if len(left) <= 1 else None


def finish(turn: LodamTurn, result: Outcome) -> None:
    """Pay the pool to the winner."""
    pool = turn.state.ledger.pot
    if pool and result.winners:
        seats = range(turn.state.seats)
        changes = tuple([pool if seat in result.winners else 0 for seat in seats])
        turn.tell(ChipsMoved("pool", changes, -pool))


_DECIDE: Final[Mapping[type[Action], Callable[[LodamTurn, Seat, Any], None]]] = {
    Play: play,
    SeeTrump: see_trump,
    Take: take,
    Leave: leave,
    OfferTrade: offer_trade,
    AcceptTrade: accept_trade,
    DeclineTrade: decline_trade,
    WithdrawTrade: withdraw_trade,
    Pass: pass_,
    Announce: announce,
    Challenge: challenge,
}
