"""Random games in other libraries' engines, one process each: RLCard (Python) and OpenSpiel (C++
driven from Python). A move is a player's; what chance deals is not counted."""

import random
from collections.abc import Callable
from typing import Any, Final

from bench.serving import NoPeer

Playout = Callable[[random.Random], int]
"""Plays a game and tells how many moves it had."""


def peers() -> dict[str, Callable[[], Playout]]:
    """What to measure by name; each is made at its turn and raises NoPeer where it cannot be."""
    return {
        RLCARD_BRIDGE: lambda: _environment("bridge"),
        "RLCard, bridge, engine alone": lambda: _engine("bridge"),
        "RLCard, uno": lambda: _environment("uno"),
        "RLCard, uno, engine alone": lambda: _engine("uno"),
        OPENSPIEL_HEARTS: lambda: _hearts(),
    }


RLCARD_BRIDGE: Final = "RLCard, bridge"
OPENSPIEL_HEARTS: Final = "OpenSpiel, hearts"


def _made(name: str) -> Any:
    try:
        import rlcard
    except ImportError as missing:
        raise NoPeer(f"RLCard is not installed ({missing}): pip install -e '.[bench]'") from None
    return rlcard.make(name)


def _environment(name: str) -> Playout:
    """As its agents play: states with the legal actions, which ours give too."""
    env = _made(name)

    def play(chance: random.Random) -> int:
        state, _ = env.reset()
        moves = 0
        while not env.is_over():
            state, _ = env.step(chance.choice(list(state["legal_actions"])))
            moves += 1
        return moves

    return play


def _engine(name: str) -> Playout:
    """Its rules alone, below the states."""
    game = _made(name).game
    legal = game.judger.get_legal_actions if name == "bridge" else game.get_legal_actions

    def play(chance: random.Random) -> int:
        game.init_game()
        moves = 0
        while not game.is_over():
            game.step(chance.choice(legal()))
            moves += 1
        return moves

    return play


def _hearts() -> Playout:
    try:
        import pyspiel
    except ImportError as missing:
        raise NoPeer(f"OpenSpiel is not installed ({missing}): pip install -e '.[bench]'") from None
    game = pyspiel.load_game("hearts")

    def play(chance: random.Random) -> int:
        state, moves, draw = game.new_initial_state(), 0, chance.random
        while not state.is_terminal():
            moves += not state.is_chance_node()
            legal = state.legal_actions()
            state.apply_action(legal[int(draw() * len(legal))])
        return moves

    return play
