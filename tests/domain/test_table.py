"""The life around a game: seats taken, tokens issued, players erased (contract, *Who calls*)."""

import msgspec
import pytest

from domain.actions import Pass, Play
from domain.game import OptionError
from domain.lodam.commands import Take
from domain.registry import GAMES
from domain.table.commands import (
    Abandon,
    ErasePlayer,
    IssueSeatToken,
    IssueSpectatorToken,
    Join,
    Player,
    Resign,
)
from domain.table.events import (
    GameCreated,
    PlayerErased,
    PlayerName,
    SeatTaken,
    SeatTokenIssued,
    SpectatorTokenIssued,
)
from domain.table.options import resolve
from tests.builders import new_game


def test_creating_a_full_game_starts_the_first_hand() -> None:
    """contract, Games: each person gets a seat and a first token; common, Actions: no pause."""
    story = new_game("lodam", 3)
    assert story.kinds() == [
        "GameCreated",
        *["SeatTaken", "SeatTokenIssued"] * 3,
        "HandStarted",
    ]
    created = story.events[0]
    assert isinstance(created, GameCreated)
    assert [(plan.seat, plan.kind, plan.bot) for plan in created.seats] == [
        (0, "human", None),
        (1, "human", None),
        (2, "human", None),
    ]
    assert story.events[1] == SeatTaken(0, PlayerName("P0", "ref-0"))
    assert story.events[2] == SeatTokenIssued(0, 1)
    assert story.view().status == "playing"


def test_bots_get_no_token() -> None:
    """contract, Games: `{bot: "random"|"careful"}`."""
    story = new_game("lodam", 3, bots={1: "careful", 2: "random"})
    assert [e.seat for e in story.events if isinstance(e, SeatTokenIssued)] == [0]
    assert [(seat.kind, seat.bot) for seat in story.view().seats] == [
        ("human", None),
        ("bot", "careful"),
        ("bot", "random"),
    ]


def test_a_game_with_open_seats_waits() -> None:
    """contract, Games: `open_seats: n`; hand is null meanwhile; it starts when full."""
    story = new_game("lodam", 2, open_seats=2)
    view = story.view()
    assert (view.status, view.hand, view.to_act, view.actions) == ("waiting", None, (), ())
    assert [(seat.name, seat.still_in) for seat in view.seats] == [
        ("P0", True),
        ("P1", True),
        (None, False),
        (None, False),
    ]
    story.when(0, Play(card="AS")).refused("common.not-started")
    story = story.when(None, Join(Player("Ida", "ref-ida"))).then(
        SeatTaken(2, PlayerName("Ida", "ref-ida")), SeatTokenIssued(2, 1)
    )
    story = story.after((None, Join(Player("Joe"))))
    assert story.kinds() == ["SeatTaken", "SeatTokenIssued", "HandStarted"]
    assert story.view().status == "playing"
    story.when(None, Join(Player("Late"))).refused("common.no-open-seat")


def test_a_waiting_table_has_an_empty_view_for_every_seat() -> None:
    story = new_game("lodam", 1, open_seats=2)
    private = story.view(0).private
    assert private is not None
    assert private.cards == ()
    assert story.view().table.taken == (0, 0, 0)


def test_issuing_a_seat_token_anew_revokes_the_earlier_ones() -> None:
    """contract, Who calls: every issue appends the public event; generation counts on."""
    story = new_game("lodam", 3).when(None, IssueSeatToken(1)).then(SeatTokenIssued(1, 2))
    story = story.when(None, IssueSeatToken(1)).then(SeatTokenIssued(1, 3))
    assert [seat.generation for seat in story.table.seats] == [1, 3, 1]


def test_no_token_for_a_bot_or_an_open_seat() -> None:
    """contract, Who calls."""
    story = new_game("lodam", 2, open_seats=1, bots={1: "random"})
    story.when(None, IssueSeatToken(1)).refused("common.no-token")
    story.when(None, IssueSeatToken(2)).refused("common.no-token")


def test_spectator_tokens_are_counted() -> None:
    """contract, Who calls: `POST /games/{id}/spectators`."""
    story = new_game("lodam", 3).when(None, IssueSpectatorToken()).then(SpectatorTokenIssued(1))
    story.when(None, IssueSpectatorToken()).then(SpectatorTokenIssued(2))


def test_erasing_a_player() -> None:
    """contract, Erasure: an event, so that the version moves; the name is gone."""
    story = new_game("lodam", 3).when(None, ErasePlayer(1)).then(PlayerErased(1))
    for seat in (None, 0, 1):
        assert "P1" not in story.shown(seat)
    assert [seat.name for seat in story.view().seats] == ["P0", None, "P2"]
    assert [score.name for score in story.view().scores] == ["P0", None, "P2"]
    story.when(None, ErasePlayer(1)).refused("common.erased")


def test_a_ref_is_shown_to_the_host_alone() -> None:
    """contract, The view: seats have a name; the ref is the host's own."""
    story = new_game("lodam", 3)
    assert [seat.ref for seat in story.view(host=True).seats] == ["ref-0", "ref-1", "ref-2"]
    for seat in (None, 0, 1, 2):
        assert "ref-" not in story.shown(seat)


def test_an_action_of_no_game_here() -> None:
    """common, Actions: an action is legal or it is refused with the rule that it breaks."""
    story = new_game("lodam", 3, trading="off").served()

    class Shuffle(Take, frozen=True, tag="shuffle"):
        """No action of any game."""

    story.when(0, Shuffle()).refused("common.no-such-action")


def test_actions_before_the_deal() -> None:
    """common, Actions."""
    story = new_game("lodam", 3, cut="manual")
    story.when(0, Pass()).refused("common.not-dealt")


def test_resigning_twice_and_abandoning_twice() -> None:
    story = new_game("lodam", 3).served().after((0, Resign()))
    story.when(0, Resign()).refused("common.resigned")
    story.after((None, Abandon(""))).when(None, Abandon("")).refused("common.game-over")


def test_labels_and_rules_are_on_view() -> None:
    view = new_game("lodam", 3, lives=2).view()
    assert msgspec.json.decode(view.rules)["lives"] == 2
    assert view.rules_version == GAMES["lodam"].rules_version
    assert view.labels == {}


@pytest.mark.parametrize("value", [[], "x", 3, None, 1.5])
def test_rules_of_a_wrong_type(value: object) -> None:
    """contract, Errors: `errors: [{path, message}]` under the option's own path."""
    with pytest.raises(OptionError) as caught:
        resolve(GAMES["lodam"], {"lives": value} if value != 3 else {"lives": [3]}, 3)
    assert caught.value.path == "$.rules.lives"
