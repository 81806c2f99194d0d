"""Options, profiles and what contradicts itself (lodam; common)."""

from typing import Any

import msgspec
import pytest

from domain.game import OptionError
from domain.lodam.options import LodamOptions
from domain.registry import GAMES
from domain.table.options import resolve
from tests.builders import new_game
from tests.domain.lodam.words import PASS, lodam, play

LODAM = GAMES["lodam"]


def resolved(**rules: Any) -> LodamOptions:
    options, _ = resolve(LODAM, rules, 4)
    assert isinstance(options, LodamOptions)
    return options


DEFAULTS = {
    "profile": "willughby",
    "ranking": "ten_high",
    "lives": 3,
    "stake": 0,
    "trading": "before_play",
    "trade_offers": 1,
    "trump": "memory",
    "announcing": True,
    "challenging": True,
    "scoring": "per_hand",
    "first_dealer": None,
    "cut": "auto",
    "deal": "auto",
    "auto_forced": True,
    "disclosure": "after_hand",
}


def test_the_defaults_are_willughbys() -> None:
    """lodam: `profile: "willughby"` is the default; common: cut, deal, auto_forced, disclosure."""
    assert msgspec.to_builtins(resolved()) == DEFAULTS
    assert resolved(profile="willughby") == resolved()


def test_modern() -> None:
    """lodam: chips, no announcing, challenging or trading; cumulative scores."""
    assert msgspec.to_builtins(resolved(profile="modern")) == DEFAULTS | {
        "profile": "modern",
        "trading": "off",
        "announcing": False,
        "challenging": False,
        "scoring": "cumulative",
    }


@pytest.mark.parametrize("profile", ["willughby", "modern"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ranking", "natural"),
        ("lives", 1),
        ("lives", 9),
        ("stake", 0),
        ("stake", 1_000_000),
        ("trading", "off"),
        ("trading", "before_play"),
        ("trading", "any_time"),
        ("trade_offers", 0),
        ("trade_offers", 5),
        ("trump", "open"),
        ("first_dealer", 0),
        ("first_dealer", 3),
        ("cut", "manual"),
        ("deal", "manual"),
        ("auto_forced", False),
        ("disclosure", "after_game"),
    ],
)
def test_every_option_may_be_set_on_its_own(profile: str, name: str, value: Any) -> None:
    """lodam: every option may also be set on its own, over either profile."""
    assert getattr(resolved(profile=profile, **{name: value}), name) == value


@pytest.mark.parametrize(
    ("rules", "path"),
    [
        ({"lives": 0}, "$.rules.lives"),
        ({"lives": 10}, "$.rules.lives"),
        ({"lives": "3"}, "$.rules.lives"),
        ({"lives": 3.0}, "$.rules.lives"),
        ({"lives": True}, "$.rules.lives"),
        ({"stake": -1}, "$.rules.stake"),
        ({"stake": 1_000_001}, "$.rules.stake"),
        ({"trade_offers": -1}, "$.rules.trade_offers"),
        ({"trade_offers": 6}, "$.rules.trade_offers"),
        ({"trading": "always"}, "$.rules.trading"),
        ({"trump": "covered"}, "$.rules.trump"),
        ({"ranking": "ace_low"}, "$.rules.ranking"),
        ({"scoring": "by_hand"}, "$.rules.scoring"),
        ({"profile": "ancient"}, "$.rules.profile"),
        ({"announcing": 1}, "$.rules.announcing"),
        ({"cut": "never"}, "$.rules.cut"),
        ({"deal": None}, "$.rules.deal"),
        ({"disclosure": "never"}, "$.rules.disclosure"),
        ({"first_dealer": 4}, "$.rules.first_dealer"),
        ({"first_dealer": -1}, "$.rules.first_dealer"),
        ({"threshold": 31}, "$.rules.threshold"),
        ({"loader_values": {}}, "$.rules.loader_values"),
        ({"seed": "ab"}, "$.rules.seed"),
        ({"seed": "zz" * 32}, "$.rules.seed"),
        ({"deal_id": "match-7"}, "$.rules.deal_id"),
        ({"seed": "ab" * 32, "deal_id": ""}, "$.rules.deal_id"),
        ({"seed": "ab" * 32, "deal_id": "x" * 65}, "$.rules.deal_id"),
    ],
)
def test_what_is_not_offered_is_refused_with_its_path(rules: dict[str, Any], path: str) -> None:
    """lodam, common: ranges, unknown names, the fixed threshold and loader values."""
    with pytest.raises(OptionError) as caught:
        resolve(LODAM, rules, 4)
    assert caught.value.path == path
    assert caught.value.message


@pytest.mark.parametrize(
    ("rules", "path"),
    [
        ({"announcing": False}, "$.rules.challenging"),
        ({"announcing": False, "challenging": True}, "$.rules.challenging"),
        ({"profile": "modern", "challenging": True}, "$.rules.challenging"),
        ({"scoring": "cumulative"}, "$.rules.announcing"),
        ({"scoring": "cumulative", "challenging": False}, "$.rules.announcing"),
        ({"profile": "modern", "announcing": True}, "$.rules.announcing"),
        ({"profile": "modern", "announcing": True, "challenging": True}, "$.rules.announcing"),
    ],
)
def test_challenging_needs_announcing_and_neither_goes_with_cumulative(
    rules: dict[str, Any], path: str
) -> None:
    """lodam, Announcing: refused at creation."""
    with pytest.raises(OptionError) as caught:
        resolve(LODAM, rules, 4)
    assert caught.value.path == path


@pytest.mark.parametrize(
    "rules",
    [
        {"challenging": False},
        {"announcing": False, "challenging": False},
        {"announcing": False, "challenging": False, "scoring": "cumulative"},
        {"profile": "modern", "scoring": "per_hand", "announcing": True},
        {"profile": "modern", "scoring": "per_hand", "announcing": True, "challenging": True},
    ],
)
def test_what_goes_together(rules: dict[str, Any]) -> None:
    """lodam, Announcing: `announcing` without `challenging` is allowed."""
    resolve(LODAM, rules, 4)


@pytest.mark.parametrize(("seats", "allowed"), [(2, False), (3, True), (10, True), (11, False)])
def test_three_to_ten_players(seats: int, allowed: bool) -> None:
    """lodam: 3 to 10 players."""
    if allowed:
        resolve(LODAM, {}, seats)
        return
    with pytest.raises(OptionError) as caught:
        resolve(LODAM, {}, seats)
    assert caught.value.path == "$.players"


def test_seed_and_deal_id_are_kept_apart_from_the_rules() -> None:
    """common, The deal: the seed is never in `rules`; `deal_id` only with `seed`."""
    options, seeding = resolve(LODAM, {"seed": "aB" * 32, "deal_id": "x" * 64, "lives": 1}, 4)
    assert (seeding.seed, seeding.deal_id) == ("aB" * 32, "x" * 64)
    assert options == resolved(lives=1)


def test_the_rules_on_view_are_complete() -> None:
    """contract, The log: `rules` are the complete options."""
    view = new_game("lodam", 4, lives=1, trump="open").view()
    assert msgspec.json.decode(view.rules) == DEFAULTS | {"lives": 1, "trump": "open"}


@pytest.mark.parametrize("auto_forced", [True, False])
def test_auto_forced_has_no_effect(auto_forced: bool) -> None:
    """lodam, Taking a trick: a lone legal card, decline, pass or look is never forced."""
    story = lodam("AS", "TS", "KS", trading="before_play", auto_forced=auto_forced)
    assert story.to_act == (0, 1, 2)
    assert story.served().table is story.table
    story = story.each(PASS)
    assert story.legal(0) == [play("AS")]
    assert story.to_act == (0,)
    story = story.plays("AS TS KS").served()
    assert story.to_act == (0, 1, 2)
