"""Loc: a betting game of simultaneous play for two to eight players.

Everyone bets, gets six cards and lays one aside. Five times all lay a card face down and show
together: the joker or the highest ace takes the whole bank and everyone bets again; without them
the highest card is excused and the others bet. The fifth trick's highest card takes what is there.

`options` · `commands` what a player may ask · `events` what happened · `rules` the values and
predicates · `state` what is remembered · `legal` who may do what now · `decide` what becomes of an
action · `views` what is shown · `narrate` how it is told · `careful` a sensible bot.
"""

from types import MappingProxyType
from typing import Final

from domain.actions import Play
from domain.game import Game, HandPlan, plan_from
from domain.ledger import ChipsMoved
from domain.loc import commands, decide, events, legal, options, rules, state, views
from domain.loc.careful import CAREFUL
from domain.loc.narrate import narrate
from domain.seats import Seat, next_seat


def plan(of: state.LocState, dealer: Seat) -> HandPlan:
    """Six cards each from the dealer's left, over players who are out; the player on the dealer's
    right cuts, with two players the other one (loc, *Cards, stakes, deal*)."""
    return plan_from(dealer, of.seats, of.still_in, rules.CARDS_EACH)


def next_dealer(of: state.LocState, dealer: Seat) -> Seat:
    """The deal passes clockwise, over players who are out (loc, *Cards, stakes, deal*)."""
    return next_seat(dealer, of.seats, of.still_in)


LOC: Final = Game(
    name="loc",
    title="Loc",
    summary="Lay your cards together, in secret: the joker and the aces take the bank.",
    rules_version=1,
    min_seats=2,
    max_seats=8,
    pack=rules.PACK,
    options=options.LocOptions,
    profiles=options.PROFILES,
    short=MappingProxyType({}),
    actions=(commands.Bet, commands.Discard, Play),
    events=(
        ChipsMoved,
        events.BetPlaced,
        events.CardDiscarded,
        events.CardLaid,
        events.CardsShown,
        events.HandSettled,
    ),
    scoring=frozenset({ChipsMoved, events.BetPlaced, events.HandSettled}),
    check=options.check,
    initial=state.initial,
    copy=state.copied,
    plan=plan,
    next_dealer=next_dealer,
    begin=lambda _: None,
    holds_cut=lambda of: of.phase == "betting",
    to_act=lambda of: of.awaited,
    legal=legal.legal,
    forced=legal.forced,
    decide=decide.decide,
    evolve=state.EVOLVE,
    hand_over=lambda of: of.phase == "over",
    outcome=decide.outcome,
    finish=lambda _turn, _outcome: None,
    phase=lambda of: of.phase,
    tricks_complete=lambda of: len(of.tricks),
    standing_offer=lambda _: None,
    still_in=views.still_in,
    table_view=views.table_view,
    private_view=views.private_view,
    opened_view=views.opened_view,
    previous=lambda of: of.previous,
    scores=views.scores,
    hand_scores=lambda of: of.history,
    pot=lambda of: of.ledger.pot,
    rightful_taker=lambda _: None,
    challenges=lambda _: [],
    cites=events.CITES,
    narrate=narrate,
    careful=CAREFUL,
)
