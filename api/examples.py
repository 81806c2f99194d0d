"""Examples for the OpenAPI document: a small game with fixed chance, played by the rules.

Every answer shown is drawn as a real one is, so the examples cannot fall behind the code.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from api import hook_examples
from api.answers import (
    EventsPage,
    GameItem,
    GamesPage,
    action_answer,
    created_answer,
    joined_answer,
    scores_answer,
    seat_token_answer,
    spectator_token_answer,
)
from api.execute import Done
from api.exporting import export_lines
from api.games import History, Known
from api.hook_sender import EventNotification, TurnNotice, TurnNotification
from api.identity import Caller, Keyring
from api.live import Ended, message
from api.people_answers import LeaderboardItem, LeaderboardPage, leaderboard_item, player_answer
from api.problems import TITLES, ProblemBody, ProblemField
from api.proof_answers import (
    ChallengesPage,
    DisputesPage,
    ErasedAnswer,
    KeySet,
    challenge_view,
    dispute_view,
)
from api.routes.health import Health, ProjectionHealth, Readiness
from api.routes.rules import rules_answer, rules_page
from api.signing import KeptKey, Signer
from domain.actions import Action
from domain.bots import RANDOM
from domain.codec import ACTION_TYPES, read_event
from domain.dispute_stream import Dispute, DisputeOpened, Resolution, Words
from domain.disputes import find
from domain.game import KeyedChance
from domain.log import GENESIS, Entry, EventView, event_view, record
from domain.registry import GAMES
from domain.replay import replay, transcript
from domain.seats import Seat
from domain.table.commands import (
    Abandon,
    Command,
    Create,
    IssueSeatToken,
    IssueSpectatorToken,
    Join,
    Player,
    Resign,
    TableCommand,
)
from domain.table.decide import create, decide, server_command, to_act
from domain.table.options import resolve
from domain.table.state import Table
from domain.table.views import View, playable_actions, result_view, view
from domain.times import format_at
from domain.visibility import SPECTATOR, Viewer
from projections.leaderboards import Ranked
from projections.players import Opponent, Person, Record
from projections.rating import Rating, after_game
from projections.scores import scores_of

GAME_ID: Final = "01970000-0000-7000-8000-000000000001"
_DISPUTE_ID: Final = "01970000-0000-7000-8000-000000000002"
_AT: Final = 1_750_000_000_000_000
_KEY: Final = bytes(range(32))
_SIGNER: Final = Signer(KeptKey(bytes(range(100, 132)), _AT // 1_000_000).text)
_PARAMETERS: Final[dict[str, Any]] = {
    "card": "QH",
    "seat": 2,
    "kind": "coat",
    "at": 20,
    "nonce": "cut by hand",
}
"""A value for each parameter that an action of any game takes."""

NEW_GAMES: Final[dict[str, Any]] = {
    "people": {
        "game": "lodam",
        "players": [{"name": "Ann", "ref": "user-17"}, {"name": "Bob"}, {"name": "Cleo"}],
        "rules": {"lives": 2},
        "labels": {"room": "blue"},
    },
    "with bots and a clock": {
        "game": "lodam",
        "players": [{"name": "Ann"}, {"bot": "careful"}, {"bot": "random", "name": "Rando"}],
        "rules": {"profile": "modern"},
        "clock": {"turn_seconds": 60, "on_timeout": "bot"},
    },
    "open seats": {"game": "lodam", "players": [{"name": "Ann"}], "open_seats": 3},
    "the same deals again": {
        "game": "lodam",
        "players": [{"name": "Ann"}, {"name": "Bob"}, {"name": "Cleo"}],
        "rules": {"seed": _KEY.hex(), "deal_id": "duplicate-1", "disclosure": "after_game"},
    },
}
PERSON: Final = {"name": "Dan", "ref": "user-20"}
ABANDONMENT: Final = {"reason": "The players have left."}
DISPUTES: Final[dict[str, Any]] = {
    "a trick": {
        "version": 41,
        "claim": {"kind": "trick", "text": "That trick was not theirs: I had played the trump."},
    },
    "a score": {"version": 118, "claim": {"kind": "score"}},
}
RESOLUTION: Final = {"outcome": "rejected", "note": "The cards show that the trick was theirs."}


def actions() -> Iterator[tuple[str, dict[str, Any]]]:
    """An example of every action type: its name and a body."""
    for kind in ACTION_TYPES:
        own = [field for field in msgspec.structs.fields(kind) if field.required]
        name = str(kind.__struct_config__.tag)
        body = {"type": name} | {field.name: _PARAMETERS[field.name] for field in own}
        yield name, body
    yield "play with guards", {"type": "play", "card": "QH", "hand": 1, "trick": 4}
    yield "cut with a nonce", {"type": "cut", "at": 20, "nonce": _PARAMETERS["nonce"]}


def problem(status: int) -> ProblemBody:
    """An example of the problem with this status."""
    kind, (_, title) = next(item for item in TITLES.items() if item[1][0] == status)
    match kind:
        case "invalid-request":
            message = "Expected `int` >= 1"
            errors = (ProblemField("$.rules.lives", message),)
            return _problem(kind, status, title, f"$.rules.lives: {message}", errors=errors)
        case "illegal-action":
            return _problem(
                kind,
                status,
                title,
                "you hold a card of the suit led (H)",
                rule="lodam.follow-suit",
                version=41,
            )
        case "version-conflict":
            return _problem(kind, status, title, "The game stands at version 42.", version=42)
        case _:
            return _problem(kind, status, title, f"{title}.")


def _problem(kind: str, status: int, title: str, detail: str, **more: Any) -> ProblemBody:
    path = f"/v1/games/{GAME_ID}/actions"
    return ProblemBody(f"/problems/{kind}", title, status, detail, path, **more)


class _Story:
    """A game and its log, told with fixed chance."""

    def __init__(self, people: int, open_seats: int = 0) -> None:
        game = GAMES["lodam"]
        options, _ = resolve(game, {"lives": 1}, people + open_seats)
        names = (("Ann", "user-17"), ("Bob", None), ("Cleo", None))
        ask = Create(
            id=GAME_ID,
            game=game.name,
            options=options,
            deal_id=GAME_ID,
            seeded_by_host=False,
            players=tuple([Player(*name) for name in names[:people]]),
            open_seats=open_seats,
            labels={"room": "blue"},
        )
        self.log: list[Entry] = []
        self.commands = 0
        self.created = self._tell(None, Command(ask, None, _AT, KeyedChance(_KEY)))
        self.follow()

    def ask(self, ask: Action | TableCommand, seat: Seat | None) -> Done:
        """What comes of a command."""
        return self._tell(self.table, Command(ask, seat, _AT, KeyedChance(_KEY)))

    def follow(self) -> None:
        """Let the server do what it does by itself."""
        while (own := server_command(self.table)) is not None:
            seat, action, forced = own
            command = Command(action, seat, _AT, KeyedChance(_KEY), "server", forced)
            self._tell(self.table, command)

    def move(self) -> Done:
        """Let whoever is waited for first do something legal."""
        seat = to_act(self.table)[0]
        word = self.commands * 2_654_435_761 % 2**32
        done = self.ask(
            RANDOM.choose(None, tuple(playable_actions(self.table, seat)), (), word), seat
        )
        self.follow()
        return done

    def _tell(self, table: Table | None, command: Command) -> Done:
        decision = create(command) if table is None else decide(table, command)
        self.commands += 1
        command_id = f"01970000-0000-7000-9000-{self.commands:012}"
        prev = self.log[-1].hash if self.log else GENESIS
        entries = record(decision, command, command_id, prev, _KEY)
        self.log += entries
        self.table = decision.table
        receipt = _SIGNER.newest(self.known)
        return Done(self.table, entries, self.table.openings, receipt)

    @property
    def known(self) -> Known:
        """The game as it stands."""
        return Known(self.table, self.log[-1].hash, _AT, "host", None, ())


def answers() -> dict[str, dict[str, Any]]:
    """Example answers by operation and media type."""
    keyring = Keyring({}, "the examples are signed with this", 30 * 86_400)
    story = _Story(people=3)
    created = created_answer(keyring, story.created)
    acted = story.move()
    seat = acted.entries[0].actor
    maker = Caller("seat", game=GAME_ID, seat=seat)
    for _ in range(5):
        story.move()
    before = view(story.table, Viewer("seat", seat), story.table.openings)
    story.move()
    table = story.table
    now = table.openings
    looked = view(table, Viewer("seat", seat), now)
    moved = [event_view(GAME_ID, entry, seat, now) for entry in story.log[before.version :]]
    events = [event_view(GAME_ID, entry, seat, now) for entry in story.log[-3:]]
    told = replay(table, story.log, seat, now)
    seat_token = seat_token_answer(keyring, story.ask(IssueSeatToken(1), None))
    spectator = spectator_token_answer(keyring, story.ask(IssueSpectatorToken(), None))
    while story.table.status == "playing":
        story.move()
    scores = scores_answer(story.table, scores_of(story.table))
    played = ((entry.version, read_event(entry)) for entry in story.log)
    challenges = tuple([challenge_view(c) for c in story.table.game.challenges(played)])
    opened, settled = [dispute_view(dispute) for dispute in _disputes(story)]
    joined = _Story(people=2, open_seats=1)
    joined_done = joined.ask(Join(Player("Dan", "user-20")), None)
    ended = _Story(people=3).ask(Abandon(ABANDONMENT["reason"]), None)
    resigned = _Story(people=3).ask(Resign(), 1)
    item = GameItem(
        id=GAME_ID,
        game="lodam",
        version=12,
        status="playing",
        created_at=format_at(_AT),
        ended_at=None,
        names=("Ann", "Bob", "Cleo"),
        refs=("user-17",),
        labels={"room": "blue"},
    )
    lines = b"\n".join([msgspec.json.encode(event) for event in events]).decode() + "\n"
    plain = {
        "createGame": created,
        "listGames": GamesPage((item,), None, 1042),
        "getGame": looked,
        "getGameAt": looked,
        "act": action_answer(maker, acted),
        "resign": action_answer(Caller("seat", seat=1), resigned),
        "abandonGame": action_answer(Caller("host"), ended),
        "takeSeat": joined_answer(keyring, joined_done),
        "issueSeatToken": seat_token,
        "issueSpectatorToken": spectator,
        "listEvents": EventsPage(tuple(events), None, table.version),
        "replayGame": told,
        "getScores": scores,
        "getKeys": KeySet(_SIGNER.keys),
        "getReceipt": _SIGNER.newest(story.known),
        "openDispute": opened,
        "getDispute": settled,
        "listDisputes": DisputesPage((settled,), None, 1042),
        "resolveDispute": settled,
        "erasePlayer": ErasedAnswer(3),
        "getPlayer": player_answer(*_person(), 1042),
        "getLeaderboard": LeaderboardPage(_leaders(), None, 1042),
        "listChallenges": ChallengesPage(challenges, None),
        "getChallenge": challenges[0],
        "listRules": rules_page(),
        "getRules": rules_answer(GAMES["lodam"]),
        "isLive": Health("live"),
        "isReady": Readiness(
            "ready", "ok", "ok", {"games": ProjectionHealth("current", 0, 0.0, 0, 0.4)}
        ),
    }
    plain |= hook_examples.answers(GAME_ID, _AT)
    found = {name: {"application/json": _builtins(body)} for name, body in plain.items()}
    found["listEvents"]["application/x-ndjson"] = lines
    found["listEvents"]["text/event-stream"] = _stream(before, moved, story.table)
    history = History(joined.log, joined.table, joined.known)
    exported = b"".join(export_lines(history, SPECTATOR, _SIGNER)).decode()
    found["exportGame"] = {"application/x-ndjson": exported}
    found["replayGame"]["text/plain"] = transcript(told, table)
    return found


def notified() -> dict[str, Any]:
    """What webhooks are sent, by kind: the newest event of a game, and whose turn it is then."""
    story = _Story(people=3)
    story.move()
    table = story.table
    event = event_view(GAME_ID, story.log[-1], None, table.openings)
    turn = TurnNotice(GAME_ID, table.version, to_act(table), None)
    bodies: dict[str, Any] = {"event": EventNotification(event), "turn": TurnNotification(turn)}
    return {kind: _builtins(body) for kind, body in bodies.items()}


def _stream(snapshot: View, events: list[EventView], over: Table) -> str:
    """A live stream: what was there, what happened next, and (left out what lies between) the end
    of the game."""
    ended = Ended(over.version, over.status, result_view(over))
    messages = [
        message(snapshot, event="snapshot", version=snapshot.version),
        *[message(event, version=event.version) for event in events],
        b": and so on\n\n",
        message(ended, event="end", version=over.version),
    ]
    return b"".join(messages).decode()


def _disputes(story: _Story) -> tuple[Dispute, Dispute]:
    """A dispute about the last trick of a story that is over, before and after it is settled."""
    version = [entry.version for entry in story.log if entry.type == "TrickTaken"][-1]
    claim = DISPUTES["a trick"]["claim"]
    event = DisputeOpened(
        game=GAME_ID,
        disputed=version,
        claim=claim["kind"],
        by="seat",
        seat=1,
        receipt=None,
        words=Words(claim["text"]),
    )
    finding = find(story.table, story.log, version, event.claim, story.table.openings)
    dispute = Dispute(_DISPUTE_ID, event, _AT, 2, story.log[-1].hash, _AT, finding)
    settled = Resolution("rejected", RESOLUTION["note"], _AT)
    return dispute, msgspec.structs.replace(dispute, resolution=settled)


def _person() -> tuple[Person, dict[str, Rating]]:
    """Ann after two games of Losing Lodam, of which she has won one."""
    record = Record(
        games=2, wins=1, chips=5, chips_won=10, chips_lost=5, lives_lost=4, last_ended_at=_AT
    )
    met = Opponent(ref="user-20", name="Dan", games=2, wins=1, losses=0, draws=1)
    return Person("user-17", "Ann", {"lodam": record}, (met,)), {"lodam": _ratings()["Ann"]}


def _leaders() -> tuple[LeaderboardItem, ...]:
    """Ann and Dan after a game of three that Ann has won."""
    return tuple(
        [
            leaderboard_item(
                rank,
                Ranked(ref, name, rating, 1, int(rank == 1), chips, rank - 1),
            )
            for rank, ref, name, rating, chips in (
                (1, "user-17", "Ann", _ratings()["Ann"], 10),
                (2, "user-20", "Dan", _ratings()["Dan"], -5),
            )
        ]
    )


def _ratings() -> dict[str, Rating]:
    return after_game(("Ann", "Dan", None), (1, 2, 3), {})


def _builtins(body: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(body))
