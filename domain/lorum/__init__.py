"""Lorum: a Hungarian game of seven contracts for four players, 28 rounds long.

Four contracts are tricks with something to be avoided (hearts, Obers, any trick, the king of
hearts), three are races to be rid of one's cards (in runs of four, in one long train of ranks, in a
layout of four suits). Chips go from player to player and into a pot, which contract 7 wins.

`options` · `contracts` the seven and their order · `events` what happened · `rules` the values and
predicates · `payments` who pays what · `state` what is remembered · `legal` who may do what now and
what is forced · `decide` what becomes of an action · `views` what is shown · `narrate` how it is
told · `careful` a sensible bot. What a player may ask is `play` and `pass`, as in any game.
"""

from types import MappingProxyType
from typing import Final

from domain.actions import Pass, Play
from domain.game import Game, HandPlan, plan_from
from domain.ledger import ChipsMoved
from domain.lorum import decide, events, legal, options, rules, state, views
from domain.lorum.careful import CAREFUL
from domain.lorum.contracts import CONTRACTS, contract_of
from domain.lorum.narrate import narrate
from domain.seats import RIGHT, Seat, next_seat
from domain.tricks import CardPlayed, Passed, TrickTaken

_ALL: Final = range(rules.SEATS)


def plan(_: state.LorumState, dealer: Seat) -> HandPlan:
    """The player on the dealer's right is dealt first, the one on the left cuts (lorum, *Cards,
    deal, direction*)."""
    return plan_from(dealer, rules.SEATS, _ALL, len(rules.PACK) // rules.SEATS, RIGHT)


def next_dealer(of: state.LorumState, dealer: Seat) -> Seat:
    """A dealer deals up to the seventh contract, then the deal passes to the right (lorum, *Cards,
    deal, direction*)."""
    if contract_of(of.hand + 1, of.options.first_contract) is not CONTRACTS[0]:
        return dealer
    return next_seat(dealer, rules.SEATS, _ALL, RIGHT)


LORUM: Final = Game(
    name="lorum",
    title="Lorum",
    summary="Seven contracts, each dealt once by everyone; chips, and a pot for the last.",
    rules_version=1,
    min_seats=rules.SEATS,
    max_seats=rules.SEATS,
    pack=rules.PACK,
    options=options.LorumOptions,
    profiles={},
    short=MappingProxyType({"rounds": 7}),
    actions=(Play, Pass),
    events=(
        CardPlayed,
        Passed,
        TrickTaken,
        ChipsMoved,
        events.ContractAnnounced,
        events.RunCompleted,
        events.RoundScored,
    ),
    scoring=frozenset({ChipsMoved, events.RoundScored}),
    check=options.check,
    initial=state.initial,
    copy=state.copied,
    plan=plan,
    next_dealer=next_dealer,
    begin=decide.begin,
    holds_cut=lambda _: False,
    to_act=legal.to_act,
    legal=legal.legal,
    forced=legal.forced,
    decide=decide.decide,
    evolve=state.EVOLVE,
    hand_over=lambda of: of.phase == "over",
    outcome=decide.outcome,
    finish=decide.finish,
    phase=lambda of: of.phase,
    tricks_complete=lambda of: of.tricks,
    standing_offer=lambda _: None,
    still_in=views.still_in,
    table_view=views.table_view,
    private_view=views.private_view,
    opened_view=views.opened_view,
    previous=lambda of: of.previous,
    scores=views.scores,
    hand_scores=views.hand_scores,
    pot=lambda of: of.ledger.pot,
    rightful_taker=legal.rightful,
    challenges=lambda _: [],
    cites=events.CITES,
    narrate=narrate,
    careful=CAREFUL,
)
