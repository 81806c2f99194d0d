"""A player of the demonstration: a client that knows its own views and nothing else.

It plays Losing Lodam as a careful beginner would, choosing among the `actions` of its view.
"""

from random import Random
from typing import Any

RANKS = "23456789JQKTA"
LOADERS = {"A": 11, "T": 10, "K": 3, "Q": 2, "J": 1}

Json = dict[str, Any]


class DemoPlayer:
    """One player: remembers the trump that was shown, and has a temper of its own."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self._trump: str | None = None
        self._hand = 0

    def choose(self, view: Json) -> Json:
        """One of the view's actions; the view lists at least one."""
        if view["hand"]["number"] != self._hand:
            self._hand, self._trump = view["hand"]["number"], None
        self._trump = view["table"]["trump"] or self._trump
        by_type: dict[str, list[Json]] = {}
        for action in view["actions"]:
            by_type.setdefault(action["type"], []).append(action)
        for kind in ("see_trump", "announce"):
            if kind in by_type:
                return by_type[kind][0]
        if "challenge" in by_type and self._chance.random() < 0.5:
            return self._chance.choice(by_type["challenge"])
        if "take" in by_type:
            return self._take_or_leave(view, by_type)
        if "decline_trade" in by_type:
            accept = by_type.get("accept_trade", [])
            wish = accept and self._chance.random() < 0.5
            return self._chance.choice(accept) if wish else by_type["decline_trade"][0]
        if "offer_trade" in by_type and self._chance.random() < 0.3:
            return self._chance.choice(by_type["offer_trade"])
        if "play" in by_type:
            return self._card(view, by_type["play"])
        return by_type["pass"][0] if "pass" in by_type else view["actions"][0]

    def _take_or_leave(self, view: Json, by_type: dict[str, list[Json]]) -> Json:
        """Leave the trick to whoever played the highest trump, as far as one remembers."""
        trumps = [p for p in view["table"]["trick"] if p["card"][1] == self._trump]
        if trumps:
            best = max(trumps, key=lambda played: RANKS.index(played["card"][0]))
            for action in by_type.get("leave", []):
                if action["seat"] == best["seat"]:
                    return action
        return by_type["take"][0]

    def _card(self, view: Json, plays: list[Json]) -> Json:
        """Lead low; follow just below the card that takes; get rid of the dearest when void."""
        led = view["table"]["led"]

        def rank(play: Json) -> int:
            return RANKS.index(play["card"][0])

        if led is None:
            return min(plays, key=rank)
        if plays[0]["card"][1] != led:
            return max(plays, key=lambda play: (LOADERS.get(play["card"][0], 0), rank(play)))
        highest = max(
            RANKS.index(p["card"][0]) for p in view["table"]["trick"] if p["card"][1] == led
        )
        below = [play for play in plays if rank(play) < highest]
        return max(below, key=rank) if below else min(plays, key=rank)
