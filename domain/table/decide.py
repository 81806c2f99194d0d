"""The outermost decider: what becomes of anything asked of a table. Plays actions on to the game,
starts one hand after another, opens finished ones and ends the game."""

from typing import Any, assert_never

import msgspec

from domain import shuffle
from domain.actions import Action, Cut, Deal
from domain.events import Event
from domain.game import Refused, Turn
from domain.hand import (
    Cards,
    HandDealt,
    HandStarted,
    PackCut,
    PlayerResigned,
    SeedRevealed,
    ServerSeed,
)
from domain.placing import places
from domain.registry import GAMES
from domain.seats import Seat
from domain.table.commands import (
    Abandon,
    Command,
    Create,
    ErasePlayer,
    IssueSeatToken,
    IssueSpectatorToken,
    Join,
    Player,
    Resign,
    TableCommand,
)
from domain.table.events import (
    BotTimed,
    ClockStarted,
    GameAbandoned,
    GameCreated,
    GameEnded,
    PlayerErased,
    PlayerName,
    SeatPlan,
    SeatTaken,
    SeatTokenIssued,
    SpectatorTokenIssued,
)
from domain.table.state import Table, copied, created, evolve
from domain.times import format_at

TableTurn = Turn[Any]


class Decision(msgspec.Struct, frozen=True):
    """The events of a command and the table after them."""

    events: tuple[Event, ...]
    table: Table


def create(command: Command) -> Decision:
    """Set up a table; if no seat is left open the first hand starts at once."""
    ask = command.ask
    assert isinstance(ask, Create)
    game = GAMES[ask.game]
    seats = len(ask.players) + ask.open_seats
    first = GameCreated(
        game=game.name,
        rules=msgspec.Raw(msgspec.json.encode(ask.options, order="sorted")),
        rules_version=game.rules_version,
        deal_id=ask.deal_id,
        seeded_by_host=ask.seeded_by_host,
        seats=tuple(
            [
                _plan(seat, ask.players[seat] if seat < len(ask.players) else None)
                for seat in range(seats)
            ]
        ),
        clock=ask.clock,
        labels=ask.labels,
    )
    table = created(ask.id, first)
    turn = Turn(table, table.play, command.at, evolve)
    turn.events.append(first)
    for seat, player in enumerate(ask.players):
        _sit(turn, seat, player)
    _start_if_full(turn, command)
    if table.clock is not None:
        _set_clock(turn, command, None)
    if table.has_pace:
        _set_pace(turn, command, None)
    return Decision(tuple(turn.events), table)


def decide(before: Table, command: Command) -> Decision:
    """What the command brings about. Raises Refused with the rule; `before` is left as it is."""
    table = copied(before)
    turn = Turn(table, table.play, command.at, evolve)
    ask = command.ask
    if isinstance(ask, Action):
        _act(turn, command, ask)
    else:
        _arrange(turn, command, ask)
    if table.clock is not None:
        _set_clock(turn, command, before)
    if table.has_pace:
        _set_pace(turn, command, before)
    return Decision(tuple(turn.events), table)


def to_act(table: Table) -> tuple[Seat, ...]:
    """The seats that the game waits for; none while the server has something to do."""
    match table.stage:
        case "play" | "before":
            if table.game.forced(table.play) is not None:
                return ()
            return table.game.to_act(table.play)
        case "cutting":
            return (table.cutter,) if table.options.cut == "manual" else ()
        case "dealing":
            return (table.dealer,) if table.options.deal == "manual" else ()
        case _:
            return ()


def server_command(table: Table) -> tuple[Seat | None, Action, bool] | None:
    """What the server does by itself now: who for, the action, and whether the rules force it."""
    match table.stage:
        case "play" | "before":
            forced = table.game.forced(table.play)
            return None if forced is None else (*forced, True)
        case "cutting" if table.options.cut == "auto":
            at = shuffle.auto_cut(table.game.pack, table.server_seed, table.deal_id, table.hand)
            return None, Cut(at=at), False
        case "dealing" if table.options.deal == "auto":
            return None, Deal(), False
        case _:
            return None


def _set_clock(turn: TableTurn, command: Command, before: Table | None) -> None:
    """Start the clock when something else is waited for, or a seat that was not, or one that has
    just acted. Where several act at once, the others' acting gives nobody more time. It does not
    run for bots that have a pace."""
    table: Table = turn.table
    assert table.clock is not None
    if table.status != "playing":
        return
    waited = tuple([seat for seat in to_act(table) if not table.paced(seat)])
    if waited and not any(_newly_waited(table, seat, command, before) for seat in waited):
        return
    deadline = format_at(turn.at + table.clock.turn_seconds * 1_000_000) if waited else None
    if deadline is not None or table.deadline is not None:
        turn.tell(ClockStarted(deadline))


def _set_pace(turn: TableTurn, command: Command, before: Table | None) -> None:
    """Say when the bots act that have a pace and that the command lets act."""
    table: Table = turn.table
    if table.status != "playing":
        return
    for seat in to_act(table):
        if table.paced(seat) and _newly_waited(table, seat, command, before):
            turn.tell(BotTimed(seat, format_at(turn.at + table.seats[seat].delay_ms * 1000)))


def _newly_waited(table: Table, seat: Seat, command: Command, before: Table | None) -> bool:
    """Whether the game waits anew for a seat that it waits for: for something else than before the
    command, or after waiting for others, or the seat has just acted."""
    if before is None or seat not in to_act(before) or _question(table) != _question(before):
        return True
    return isinstance(command.ask, Action) and command.seat == seat


def _question(table: Table) -> tuple[object, ...]:
    """What the game waits for, whoever has answered already."""
    game, play = table.game, table.play
    return table.hand, table.stage, game.phase(play), game.standing_offer(play), table.cut_at


def _act(turn: TableTurn, command: Command, ask: Action) -> None:
    """An action of the game: guards, the seat, then the cut, the deal or the game itself."""
    table: Table = turn.table
    stage = table.stage
    if stage == "waiting":
        raise Refused("common.not-started", "the game waits for players")
    if stage == "over":
        raise Refused("common.game-over", "the game is over")
    _check_guards(table, ask)
    seat = command.seat
    if seat is not None:
        if table.seats[seat].resigned and command.by is None:
            raise Refused("common.resigned", "you have resigned")
        if seat not in table.order:
            raise Refused("common.out", "you are out of the game")
    game = table.game
    if type(ask) in game.actions:
        if stage in ("cutting", "dealing"):
            raise Refused("common.not-dealt", "the cards have not been dealt")
        assert seat is not None
        game.decide(turn, seat, ask)
        if game.hand_over(table.play):
            _after_hand(turn, command)
    elif isinstance(ask, Cut):
        _cut(turn, seat, ask)
    elif isinstance(ask, Deal):
        _deal(turn, seat)
    else:
        name = ask.__struct_config__.tag
        raise Refused("common.no-such-action", f"{game.name} has no action {name}")


def _check_guards(table: Table, ask: Action) -> None:
    """Refuse an action meant for another hand, trick or offer (common, *Actions*)."""
    if ask.hand is ask.trick is ask.offer is None:
        return
    if ask.hand is not None and ask.hand != table.hand:
        raise Refused("common.guard", f"hand {table.hand} is on, not {ask.hand}")
    if ask.trick is not None:
        tricks = table.game.tricks_complete(table.play)
        if ask.trick != tricks:
            raise Refused("common.guard", f"{tricks} tricks are complete, not {ask.trick}")
    if ask.offer is not None:
        standing = table.game.standing_offer(table.play)
        if ask.offer != standing:
            raise Refused("common.guard", f"offer {ask.offer} does not stand")


def _cut(turn: TableTurn, seat: Seat | None, ask: Cut) -> None:
    table: Table = turn.table
    size = len(table.game.pack)
    if table.stage != "cutting":
        raise Refused("common.cut", "the pack is not to be cut now")
    if seat != (table.cutter if table.options.cut == "manual" else None):
        raise Refused("common.cutter", "another player cuts, or the server does")
    if not 1 <= ask.at < size:
        raise Refused("common.cut-range", f"cut at 1 to {size - 1}")
    turn.tell(PackCut(table.hand, ask.at, ask.nonce, table.options.cut == "auto"))


def _deal(turn: TableTurn, seat: Seat | None) -> None:
    table: Table = turn.table
    if table.stage != "dealing":
        raise Refused("common.deal", "the cards are not to be dealt now")
    if seat != (table.dealer if table.options.deal == "manual" else None):
        raise Refused("common.dealer", "another player deals, or the server does")
    pack = table.game.pack
    assert table.cut_at is not None
    shuffled = shuffle.shuffled(pack, table.server_seed, table.deal_id, table.hand, table.nonce)
    each = table.game.plan(table.play, table.dealer).each
    hands, stock = shuffle.deal(shuffle.cut(shuffled, table.cut_at), table.order, each)
    turn.tell(
        HandDealt(
            hand=table.hand,
            counts=tuple([len(hands.get(s, ())) for s in range(len(table.seats))]),
            stock=len(stock),
            hands={s: Cards(pack.texts(hands[s])) for s in sorted(hands)},
            rest=Cards(pack.texts(stock)),
        )
    )


def _arrange(turn: TableTurn, command: Command, ask: TableCommand) -> None:
    """A command about the table itself."""
    table: Table = turn.table
    match ask:
        case Join():
            open_seats = [i for i, s in enumerate(table.seats) if not s.taken]
            if table.status != "waiting" or not open_seats:
                raise Refused("common.no-open-seat", "no seat is open")
            _sit(turn, open_seats[0], ask.player)
            _start_if_full(turn, command)
        case IssueSeatToken():
            seated = table.seats[ask.seat]
            if seated.bot is not None or not seated.taken:
                raise Refused("common.no-token", "no person sits there")
            turn.tell(SeatTokenIssued(ask.seat, seated.generation + 1))
        case IssueSpectatorToken():
            turn.tell(SpectatorTokenIssued(table.spectators + 1))
        case Resign():
            _resign(turn, command.seat)
        case Abandon():
            if table.stage == "over":
                raise Refused("common.game-over", "the game is over")
            turn.tell(GameAbandoned(ask.reason))
            _end(turn, (), "abandoned")
        case ErasePlayer():
            if table.seats[ask.seat].erased:
                raise Refused("common.erased", "the player of that seat has been erased")
            turn.tell(PlayerErased(ask.seat))
        case Create():
            raise ValueError("a table is created once, by `create`")
        case _:
            assert_never(ask)


def _plan(seat: Seat, player: Player | None) -> SeatPlan:
    bot = None if player is None else player.bot
    pace = 0 if player is None else player.delay_ms
    return SeatPlan(seat, "bot" if bot else "human", bot, pace or msgspec.UNSET)


def _sit(turn: TableTurn, seat: Seat, player: Player) -> None:
    turn.tell(SeatTaken(seat, PlayerName(player.name, player.ref)))
    if player.bot is None:
        turn.tell(SeatTokenIssued(seat, 1))


def _resign(turn: TableTurn, seat: Seat | None) -> None:
    table: Table = turn.table
    assert seat is not None
    if table.stage == "waiting":
        raise Refused("common.not-started", "the game waits for players")
    if table.stage == "over":
        raise Refused("common.game-over", "the game is over")
    if table.seats[seat].resigned:
        raise Refused("common.resigned", "you have resigned")
    if seat not in table.order:
        raise Refused("common.out", "you are out of the game")
    turn.tell(PlayerResigned(seat))


def _start_if_full(turn: TableTurn, command: Command) -> None:
    if all(seated.taken for seated in turn.table.seats):
        _start_hand(turn, command)


def _start_hand(turn: TableTurn, command: Command) -> None:
    """Publish the commitment of the next hand (common, *The deal*, step 1)."""
    table: Table = turn.table
    hand = table.hand + 1
    seed = command.chance.server_seed(table.deal_id, hand)
    first = hand == 1
    dealer = (
        table.options.first_dealer if first else table.game.next_dealer(table.play, table.dealer)
    )
    by_lot = dealer is None
    if dealer is None:
        dealer = shuffle.dealer_lot(seed, table.deal_id, len(table.seats))
    plan = table.game.plan(table.play, dealer)
    turn.tell(
        HandStarted(
            hand=hand,
            dealer=dealer,
            by_lot=by_lot,
            seats=plan.seats,
            cutter=plan.cutter,
            commitment=shuffle.commitment(seed).hex(),
            seed=ServerSeed(seed.hex()),
        )
    )
    table.game.begin(turn)


def _after_hand(turn: TableTurn, command: Command) -> None:
    """Open the finished hand, then end the game or start the next hand in the same step."""
    table: Table = turn.table
    if table.options.disclosure == "after_hand":
        _open_hands(turn)
    outcome = table.game.outcome(table.play)
    if outcome is None:
        _start_hand(turn, command)
        return
    table.game.finish(turn, outcome)
    remaining = [seated for seated in table.seats if not seated.resigned]
    resigned = len(remaining) <= 1 < len(table.seats)
    _end(turn, outcome.winners, "resigned" if resigned else outcome.reason)


def _open_hands(turn: TableTurn) -> None:
    """Reveal the seed of every hand still closed (common, *Who sees what*, `disclosure`)."""
    table: Table = turn.table
    now = table.version
    for record in table.unopened:
        last = record.last if record.last is not None else now
        turn.tell(SeedRevealed(record.hand, record.server_seed.hex(), (record.first, last)))


def _end(turn: TableTurn, winners: tuple[Seat, ...], reason: str) -> None:
    table: Table = turn.table
    _open_hands(turn)
    game, play = table.game, table.play
    scores = game.scores(play)
    placed = places(winners, scores, game.hand_scores(play))
    turn.tell(GameEnded(winners, scores, game.pot(play), reason, placed))
