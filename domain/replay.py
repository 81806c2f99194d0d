"""A game told again, as one viewer may see it now: hands, their tricks or runs, plays, payments.

Every event passes `log.seen_event` first: a replay shows no more than the viewer's events do.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from domain.events import Event
from domain.game import Game
from domain.hand import HandDealt, HandStarted, PackCut, PlayerResigned, SeedRevealed
from domain.log import Entry, seen_event
from domain.seats import Seat
from domain.table.events import GameAbandoned
from domain.table.state import Table
from domain.table.views import ResultView, result_view
from domain.telling import CutTold, HandTold, Moment, Telling, TrickTold
from domain.visibility import Openings


class Replay(msgspec.Struct, frozen=True):
    """A whole game told; `names` are by seat."""

    id: str
    game: str
    title: str
    version: int
    status: str
    names: tuple[str, ...]
    hands: tuple[HandTold, ...]
    result: ResultView | None


STAND_INS: Final = tuple([chr(0xE000 + seat) for seat in range(16)])
"""What stands for the names of seats in hands that are told to be kept, since names can be erased:
characters of Unicode's private use area, one a seat. Nothing else that players choose stands in
`Moment.text`."""


def replay(table: Table, entries: Iterable[Entry], seat: Seat | None, now: Openings) -> Replay:
    """Tell the events of a game up to `table`'s version to a viewer at `seat` (None: no seat), by
    what lies open `now`. Raises UnreadableEvent."""
    return retold(table, (), entries, seat, now)


def retold(
    table: Table,
    before: Iterable[HandTold],
    entries: Iterable[Entry],
    seat: Seat | None,
    now: Openings,
) -> Replay:
    """The same, where hands told before (with stand-ins for names) are gone on with."""
    names = tuple(
        [
            f"Seat {n}" if seated.name is None else seated.name
            for n, seated in enumerate(table.seats)
        ]
    )
    hands = [_named(hand, names) for hand in before]
    return Replay(
        id=table.id,
        game=table.game.name,
        title=table.game.title,
        version=table.version,
        status=table.status,
        names=names,
        hands=tuple(hands_told(table.game, names, entries, seat, now, hands)),
        result=result_view(table),
    )


def hands_told(
    game: Game[Any],
    names: Sequence[str],
    entries: Iterable[Entry],
    seat: Seat | None,
    now: Openings,
    before: Iterable[HandTold] = (),
) -> list[HandTold]:
    """Tell hands with these names by seat, going on from those told before (which are changed).
    Raises UnreadableEvent."""
    telling = Telling(game.pack, names, before)
    for entry in entries:
        _tell(game, telling, seen_event(entry, seat, now), entry.version)
    return telling.hands


def _named(hand: HandTold, names: Sequence[str]) -> HandTold:
    """A hand that was told to be kept, with the names in their place."""
    put = {ord(stand_in): name for stand_in, name in zip(STAND_INS, names, strict=False)}
    hand.moments = [
        msgspec.structs.replace(moment, text=moment.text.translate(put)) for moment in hand.moments
    ]
    return hand


def _tell(game: Game[Any], telling: Telling, event: Event, version: int) -> None:
    match event:
        case HandStarted():
            telling.hands.append(HandTold(event.hand, event.dealer, event.by_lot, event.commitment))
        case PackCut():
            telling.hand.cut = CutTold(event.at, event.nonce, event.auto)
        case HandDealt():
            cards = {s: part.cards for s, part in event.hands.items() if part is not None}
            telling.hand.dealt = [cards.get(s) for s in range(len(event.counts))]
            telling.hand.stock = None if event.rest is None else event.rest.cards
        case SeedRevealed():
            for hand in telling.hands:
                if hand.hand == event.hand:
                    hand.server_seed, hand.opened = event.server_seed, True
        case PlayerResigned():
            telling.say(version, event.seat, f"{telling.name(event.seat)} resigns")
        case GameAbandoned() if telling.hands:
            telling.say(version, None, "The game is abandoned")
        case _:
            game.narrate(telling, event, version)


def transcript(told: Replay, table: Table) -> str:
    """The replay in words, hand by hand, for a card player to read."""
    lines = [f"{told.title}: {', '.join(told.names)}"]
    for hand in told.hands:
        lines += ["", *_hand_lines(hand, told.names, table)]
    if told.result is not None:
        lines += ["", _result_line(told.result, told.names)]
    return "\n".join(lines) + "\n"


def _hand_lines(hand: HandTold, names: tuple[str, ...], table: Table) -> Iterator[str]:
    spoken = table.game.pack.spoken
    contract = f": {hand.contract.replace('_', ' ')}" if hand.contract else ""
    lot = " by lot" if hand.by_lot else ""
    yield f"Hand {hand.hand}{contract}, dealt by {names[hand.dealer]}{lot}"
    yield f"  commitment {hand.commitment}"
    if hand.server_seed is not None:
        yield f"  seed       {hand.server_seed}"
    if hand.cut is not None:
        who = "by the server" if hand.cut.auto else f"with nonce {hand.cut.nonce!r}"
        yield f"  cut at {hand.cut.at} {who}"
    for seat, cards in enumerate(hand.dealt):
        if cards:
            yield f"  {names[seat]} holds {', '.join([spoken(card) for card in cards])}"
    told: list[TrickTold | Moment] = sorted(
        [*hand.tricks, *hand.moments], key=lambda item: item.version
    )
    for item in told:
        yield f"  {_trick_line(item, names, table) if isinstance(item, TrickTold) else item.text}"
    if hand.points is not None:
        points = [f"{name} {n}" for name, n in zip(names, hand.points, strict=True)]
        yield f"  points: {', '.join(points)}"
    if hand.unfinished:
        plays = ", ".join([f"{names[play.seat]} {spoken(play.card)}" for play in hand.unfinished])
        yield f"  on the table: {plays}"
    if lives := _lost_lives(hand, names):
        yield f"  lives: {lives}"
    if chips := _chips(names, [payment.chips for payment in hand.payments]):
        yield f"  chips: {chips}"


def _trick_line(trick: TrickTold, names: tuple[str, ...], table: Table) -> str:
    spoken = table.game.pack.spoken
    plays = ", ".join([f"{names[play.seat]} {spoken(play.card)}" for play in trick.plays])
    line = f"{trick.trick}. {plays}"
    if trick.taker is not None:
        line += f" - {names[trick.taker]}"
    if trick.points:
        line += f", {trick.points}"
    return line + (" (swallowed)" if trick.swallowed else "")


def _lost_lives(hand: HandTold, names: tuple[str, ...]) -> str:
    return ", ".join([f"{names[p.seat]} {p.lives:+d}" for p in hand.payments if p.lives])


def _chips(names: tuple[str, ...], values: Sequence[int]) -> str:
    """Everyone's chips, or nothing where no chip has moved."""
    if not any(values):
        return ""
    return ", ".join([f"{n} {chips:+d}" for n, chips in zip(names, values, strict=True)])


def _result_line(result: ResultView, names: tuple[str, ...]) -> str:
    winners = " and ".join([names[seat] for seat in result.winners]) or "nobody"
    line = "The game is abandoned" if result.reason == "abandoned" else f"Won by {winners}"
    if result.resigned:
        line += f"; resigned: {', '.join([names[seat] for seat in result.resigned])}"
    if balances := _chips(names, result.balances):
        line += f"; chips: {balances}"
    return line + (f", in the pot {result.pot}" if result.pot else "")
