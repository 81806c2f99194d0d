"""The demonstration's offline checks: what the log of a game that is over, all its hands opened,
proves without a server.
"""

from collections.abc import Iterator, Sequence

import msgspec

from domain import shuffle
from domain.codec import read_event
from domain.hand import HandDealt, HandStarted, PackCut, SeedRevealed
from domain.log import Entry, chain_breaks
from domain.rederive import differences, steps
from domain.registry import GAMES
from domain.table.events import GameCreated


class Check(msgspec.Struct, frozen=True):
    """Something that was checked, and whether it holds."""

    what: str
    holds: bool


def checks(game_id: str, entries: Sequence[Entry]) -> Iterator[Check]:
    """Every check in turn: the chain with its digests, each hand's deal, and the rules."""
    sealed = sum(len(entry.sealed) for entry in entries)
    yield Check(
        f"the hash chain over {len(entries)} events and {sealed} sealed parts",
        chain_breaks(game_id, entries) is None,
    )
    yield from _deals(entries)
    derived = list(steps(game_id, entries))
    same = not any(True for step in derived for _ in differences(step))
    yield Check(f"{len(derived)} recorded actions, played through the rules again", same)


def _deals(entries: Sequence[Entry]) -> Iterator[Check]:
    """Each hand: its seed is the one committed to, and yields the cards that were dealt."""
    events = [read_event(entry) for entry in entries]
    created = events[0]
    assert isinstance(created, GameCreated)
    pack = GAMES[created.game].pack
    seeds = {e.hand: bytes.fromhex(e.server_seed) for e in events if isinstance(e, SeedRevealed)}
    cuts = {e.hand: e for e in events if isinstance(e, PackCut)}
    deals = {e.hand: e for e in events if isinstance(e, HandDealt)}
    for started in events:
        if not isinstance(started, HandStarted):
            continue
        hand = started.hand
        seed, cut, dealt = seeds[hand], cuts[hand], deals[hand]
        committed = shuffle.commitment(seed).hex() == started.commitment
        order = shuffle.shuffled(pack, seed, created.deal_id, hand, cut.nonce)
        hands, stock = shuffle.deal(shuffle.cut(order, cut.at), started.seats, max(dealt.counts))
        told = {s: part.cards for s, part in dealt.hands.items() if part is not None}
        same = told == {s: pack.texts(cards) for s, cards in hands.items()}
        same = same and dealt.rest is not None and dealt.rest.cards == pack.texts(stock)
        yield Check(
            f"hand {hand}: the seed is the one committed to, the deal follows", committed and same
        )
