"""The options of Lorum (lorum, *End*, *Trick contracts*; common)."""

from typing import Any

import msgspec
import pytest

from domain.game import OptionError
from domain.lorum import LORUM
from domain.table.options import resolve
from tests.builders import new_game

DEFAULTS = {
    "early_end": True,
    "rounds": 28,
    "first_contract": 1,
    "starting_chips": 0,
    "first_dealer": None,
    "cut": "auto",
    "deal": "auto",
    "auto_forced": True,
    "disclosure": "after_hand",
}


def test_the_defaults() -> None:
    """lorum: early_end, rounds, first_contract, starting_chips; common: the others."""
    options, _ = resolve(LORUM, {}, 4)
    assert msgspec.to_builtins(options) == DEFAULTS


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("early_end", False),
        ("rounds", 1),
        ("rounds", 28),
        ("first_contract", 1),
        ("first_contract", 7),
        ("starting_chips", 0),
        ("starting_chips", 1_000_000_000),
        ("first_dealer", 3),
        ("cut", "manual"),
        ("deal", "manual"),
        ("auto_forced", False),
        ("disclosure", "after_game"),
    ],
)
def test_every_option_may_be_set(name: str, value: Any) -> None:
    """lorum, common: and is on view with the rest."""
    view = new_game("lorum", 4, **{name: value}).view()
    assert msgspec.json.decode(view.rules) == DEFAULTS | {name: value}


@pytest.mark.parametrize(
    ("rules", "path"),
    [
        ({"early_end": 1}, "$.rules.early_end"),
        ({"rounds": 0}, "$.rules.rounds"),
        ({"rounds": 29}, "$.rules.rounds"),
        ({"first_contract": 0}, "$.rules.first_contract"),
        ({"first_contract": 8}, "$.rules.first_contract"),
        ({"starting_chips": -1}, "$.rules.starting_chips"),
        ({"starting_chips": 1_000_000_001}, "$.rules.starting_chips"),
        ({"starting_chips": 1.5}, "$.rules.starting_chips"),
        ({"first_dealer": 4}, "$.rules.first_dealer"),
        ({"profile": "hungarian"}, "$.rules.profile"),
        ({"lives": 3}, "$.rules.lives"),
    ],
)
def test_what_is_not_offered_is_refused_with_its_path(rules: dict[str, Any], path: str) -> None:
    """lorum: ranges; it has no profiles."""
    with pytest.raises(OptionError) as caught:
        resolve(LORUM, rules, 4)
    assert caught.value.path == path


@pytest.mark.parametrize("seats", [1, 2, 3, 5])
def test_it_takes_four_players(seats: int) -> None:
    """lorum: 4 players."""
    with pytest.raises(OptionError) as caught:
        resolve(LORUM, {}, seats)
    assert caught.value.path == "$.players"
