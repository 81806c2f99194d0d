"""The games on offer: one line each. Nothing else knows a game by name."""

from types import MappingProxyType
from typing import Any, Final

from domain.game import Game
from domain.loc import LOC
from domain.lodam import LODAM
from domain.lorum import LORUM

GAMES: Final = MappingProxyType[str, Game[Any]]({game.name: game for game in (LODAM, LORUM, LOC)})
