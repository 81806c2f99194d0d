"""Losing Lodam: an English penalty-trick game of the 1500s for three to ten players.

Avoid taking the loaders (ace 11, ten 10, king 3, queen 2, jack 1). Whoever reaches 31 in a hand
must say so and loses a life; silence can be challenged. Trumps are turned up by the first renounce
and must then be remembered: a trick taken that was another's is swallowed, and stands.

`options` · `commands` what a player may ask · `events` what happened · `rules` the values and
predicates · `state` what is remembered · `legal` who may do what now · `decide` what becomes of an
action · `views` what is shown · `narrate` how it is told · `careful` a sensible bot.
"""

from types import MappingProxyType
from typing import Final

from domain.actions import Pass, Play
from domain.game import Game, HandPlan, plan_from
from domain.ledger import ChipsMoved
from domain.lodam import commands, decide, events, legal, options, rules, state, views
from domain.lodam.careful import CAREFUL
from domain.lodam.evidence import evidence
from domain.lodam.narrate import narrate
from domain.seats import Seat, next_seat
from domain.tricks import CardPlayed, Passed, TrickTaken


def plan(of: state.LodamState, dealer: Seat) -> HandPlan:
    """Eldest hand, on the dealer's left, is dealt first; the player on the right cuts
    (lodam, *Deal*)."""
    still_in = of.still_in
    return plan_from(dealer, of.seats, still_in, rules.cards_each(len(still_in)))


def next_dealer(of: state.LodamState, dealer: Seat) -> Seat:
    """The deal passes to the left, over players who are out (lodam, *Deal*)."""
    return next_seat(dealer, of.seats, of.still_in)


LODAM: Final = Game(
    name="lodam",
    title="Losing Lodam",
    summary="Avoid the loaders; remember the trump; own up at 31 or be challenged.",
    rules_version=1,
    min_seats=3,
    max_seats=10,
    pack=rules.PACK,
    options=options.LodamOptions,
    profiles=options.PROFILES,
    short=MappingProxyType({"lives": 1}),
    actions=(
        Play,
        Pass,
        commands.OfferTrade,
        commands.AcceptTrade,
        commands.DeclineTrade,
        commands.WithdrawTrade,
        commands.SeeTrump,
        commands.Take,
        commands.Leave,
        commands.Announce,
        commands.Challenge,
    ),
    events=(
        CardPlayed,
        Passed,
        TrickTaken,
        ChipsMoved,
        events.TradeOffered,
        events.TradeDeclined,
        events.TradeWithdrawn,
        events.TradeLapsed,
        events.TradeConcluded,
        events.TrumpTurned,
        events.TrumpSeen,
        events.TrumpCovered,
        events.TrickLeft,
        events.Announced,
        events.ChallengeDecided,
        events.HandScored,
    ),
    scoring=frozenset({ChipsMoved, events.HandScored}),
    check=options.check,
    initial=state.initial,
    copy=state.copied,
    plan=plan,
    next_dealer=next_dealer,
    begin=decide.begin,
    holds_cut=lambda _: False,
    to_act=legal.to_act,
    legal=legal.legal,
    forced=lambda _: None,
    decide=decide.decide,
    evolve=state.EVOLVE,
    hand_over=lambda of: of.phase == "over",
    outcome=decide.outcome,
    finish=decide.finish,
    phase=lambda of: of.phase,
    tricks_complete=lambda of: of.tricks + of.complete,
    standing_offer=lambda of: None if of.offer is None else of.offer.number,
    still_in=views.still_in,
    table_view=views.table_view,
    private_view=views.private_view,
    opened_view=views.opened_view,
    previous=lambda of: of.previous,
    scores=views.scores,
    hand_scores=views.hand_scores,
    pot=lambda of: of.ledger.pot,
    rightful_taker=legal.rightful,
    challenges=evidence,
    cites=events.CITES,
    narrate=narrate,
    careful=CAREFUL,
)
