"""What a game is: the few functions that every game fulfils, and the words they share.

A game is a *decider*: `initial` gives a state, `legal` what a seat may do, `decide` turns an
action into events or refuses it, `evolve` applies an event, `view` shows the state. One frozen
`Game` names them; nothing outside `registry` knows a game by name.

States are mutable structs used as values: `evolve` changes the one it is given, so `decide` works
on a copy of its own (`Turn`) and a fold on a fresh one. Nobody else calls `evolve`.
"""

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Generic, Literal, Protocol, TypeVar

import msgspec

from domain.actions import Action
from domain.cards import Card, Pack
from domain.events import Event
from domain.evidence import Challenge
from domain.seats import LEFT, Seat, next_seat, round_from
from domain.shuffle import hand_seed
from domain.telling import Payment, PlayedCard, Telling

S = TypeVar("S")

shallow: Final[Callable[[Any], Any]] = msgspec.Struct.__copy__  # type: ignore[attr-defined]
"""A copy of a struct that shares what it holds. What `copy.copy` does, without a search for how: it
is made for every action."""


class Refused(Exception):
    """The rules forbid the action now. `rule` is a stable id that rulebook and tests share."""

    def __init__(self, rule: str, detail: str) -> None:
        super().__init__(f"{rule}: {detail}")
        self.rule: Final = rule
        self.detail: Final = detail


class OptionError(Exception):
    """A game cannot be set up so. `path` is where in the request, such as `$.rules.lives`."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path: Final = path
        self.message: Final = message


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rule options that every game has (common, *The deal*, *Actions*)."""

    first_dealer: Annotated[
        Annotated[int, msgspec.Meta(ge=0, le=9)] | None,
        msgspec.Meta(description="Seat of the first dealer; null: by lot."),
    ] = None
    cut: Annotated[
        Literal["auto", "manual"],
        msgspec.Meta(description="Whether the server cuts, or the cutter by the action `cut`."),
    ] = "auto"
    deal: Annotated[
        Literal["auto", "manual"],
        msgspec.Meta(description="Whether the server deals, or the dealer by the action `deal`."),
    ] = "auto"
    auto_forced: Annotated[
        bool, msgspec.Meta(description="Whether the server makes the compulsory actions itself.")
    ] = True
    disclosure: Annotated[
        Literal["after_hand", "after_game"],
        msgspec.Meta(description="When a hand's hidden cards and its seed are shown to everyone."),
    ] = "after_hand"


class Chance(Protocol):
    """Where a command's unpredictable bytes come from; the domain draws none itself."""

    def server_seed(self, deal_id: str, hand: int) -> bytes:
        """The 32-byte seed of the hand about to start."""


class KeyedChance(msgspec.Struct, frozen=True):
    """Chance from a 32-byte key: the game's option `seed`, or fresh random bytes a command."""

    key: bytes

    def server_seed(self, deal_id: str, hand: int) -> bytes:
        """HMAC-SHA256 of the key over `{deal_id}:{hand}` (common, option `seed`)."""
        return hand_seed(self.key, deal_id, hand)


class HandPlan(msgspec.Struct, frozen=True):
    """How the next hand is dealt: seats in dealing order, the cutter, cards for each."""

    seats: tuple[Seat, ...]
    cutter: Seat
    each: int


def plan_from(
    dealer: Seat, seats: int, still_in: Container[Seat], each: int, step: int = LEFT
) -> HandPlan:
    """The plan of a hand dealt by `dealer` in direction `step`: the next player still in is dealt
    first, and the one on the dealer's other side cuts."""
    first = next_seat(dealer, seats, still_in, step)
    return HandPlan(
        seats=round_from(first, seats, still_in, step),
        cutter=next_seat(dealer, seats, still_in, -step),
        each=each,
    )


class Score(msgspec.Struct, frozen=True):
    """Where a seat stands: lives where the game has them, chips, points where they run on."""

    seat: Seat
    lives: int | None
    chips: int
    points: int | None


class HandScore(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a hand brought, by seat; `swallowed` counts swallowed tricks, which nobody may know
    until the hand is opened."""

    hand: int
    dealer: Seat
    points: tuple[int, ...]
    chips: tuple[int, ...]
    lives: tuple[int, ...] | None
    contract: str | None = None
    swallowed: tuple[int, ...] | None = None


class Outcome(msgspec.Struct, frozen=True):
    """How a game ends by its own rules: the winners (none, one or several seats), and the reason
    where the game marks a resignation though it was played out."""

    winners: tuple[Seat, ...]
    reason: Literal["played", "resigned"] = "played"


class Previous(msgspec.Struct, frozen=True):
    """What has just gone from the table and everyone saw: the last finished trick or run, and the
    payments of the last finished hand (number `payments_hand`)."""

    hand: int
    trick: tuple[PlayedCard, ...]
    taker: Seat | None
    payments: tuple[Payment, ...]
    payments_hand: int | None


def gone_from_table(
    before: Previous | None, hand: int, trick: tuple[PlayedCard, ...], taker: Seat | None
) -> Previous:
    """What has just gone once a trick or run has: it, and the payments as before."""
    if before is None:
        return Previous(hand, trick, taker, (), None)
    return Previous(hand, trick, taker, before.payments, before.payments_hand)


def paid_for_hand(
    before: Previous | None, hand: int, payments: tuple[Payment, ...]
) -> Previous | None:
    """What has just gone once a hand is paid for: its last trick or run, and its payments."""
    if before is None:
        return None
    return msgspec.structs.replace(before, payments=payments, payments_hand=hand)


class Private(msgspec.Struct, frozen=True):
    """What a seat alone may see: its cards, the tricks it has taken and their points."""

    cards: tuple[str, ...]
    tricks: tuple[tuple[str, ...], ...] = ()
    points: int = 0


class Opened(msgspec.Struct, frozen=True):
    """What was hidden in a hand that has been opened, as it stood then: hands by seat, the stock,
    and the card that was turned up."""

    hands: tuple[tuple[str, ...], ...]
    stock: tuple[str, ...]
    turned: str | None = None


class Turn(msgspec.Struct, Generic[S]):
    """The events of one command as they come about, each applied at once to the deciding copy."""

    table: Any
    state: S
    at: int
    apply: Callable[[Any, Event], None]
    events: list[Event] = []

    def tell(self, event: Event) -> None:
        """Record that this has happened; the state follows."""
        self.events.append(event)
        self.apply(self.table, event)


class Bot(Protocol):
    """A player that is a pure function of what one seat was shown, when it was shown.

    `remember` folds the seat's own redacted events; `choose` takes one of the view's actions (the
    range of a `cut` still open) by that memory, the view's own cards and a number drawn uniformly
    from 0 … 2**32-1.
    """

    def memory(self, seat: Seat, seats: int, options: Any) -> Any:
        """What is known before the first event."""

    def remember(self, memory: Any, event: Any) -> None:
        """Take in one event as the seat saw it (hidden fields None)."""

    def choose(
        self, memory: Any, actions: tuple[Action, ...], cards: tuple[str, ...], word: int
    ) -> Action:
        """One of `actions`, which is not empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Game(Generic[S]):
    """One game, whole. `S` is its state."""

    name: str
    title: str
    summary: str
    rules_version: int
    min_seats: int
    max_seats: int
    pack: Pack
    options: type[Options]
    profiles: Mapping[str, Mapping[str, Any]]
    """Option values by profile name; the option `profile` picks one, the others override it."""
    short: Mapping[str, Any]
    """Options of a short game, for a first taste."""
    actions: tuple[type[Action], ...]
    events: tuple[type[Event], ...]
    scoring: frozenset[type[Event]]
    """The types of its events at which scores change."""
    check: Callable[[Any, int], None]
    """Refuse options that contradict each other, given the number of seats (OptionError)."""
    initial: Callable[[Any, int], S]
    copy: Callable[[S], S]
    plan: Callable[[S, Seat], HandPlan]
    """The plan of a hand dealt by this seat."""
    next_dealer: Callable[[S, Seat], Seat]
    """Who deals after this dealer."""
    begin: Callable[[Turn[S]], None]
    """What happens in the same step as the start of a hand."""
    holds_cut: Callable[[S], bool]
    """Whether the hand waits for something before the cut (bets)."""
    to_act: Callable[[S], tuple[Seat, ...]]
    legal: Callable[[S, Seat], list[Action]]
    forced: Callable[[S], tuple[Seat, Action] | None]
    """The compulsory action that the server makes next under the options, if any."""
    decide: Callable[[Turn[S], Seat, Any], None]
    """Tell what the seat's action brings about, up to and including the scoring of a finished hand;
    raise Refused before telling anything."""
    evolve: Mapping[type[Event], Callable[[S, Any, int], None]]
    """For each event type that concerns the game: apply it (the event's version is the third
    argument)."""
    hand_over: Callable[[S], bool]
    outcome: Callable[[S], Outcome | None]
    """Whether the game is over, looked at when a hand is over."""
    finish: Callable[[Turn[S], Outcome], None]
    """What is settled when the game ends by its rules (pools, pots)."""
    phase: Callable[[S], str]
    tricks_complete: Callable[[S], int]
    standing_offer: Callable[[S], int | None]
    still_in: Callable[[S], tuple[bool, ...]]
    table_view: Callable[[S, bool], Any]
    """The public table; the second argument: whether a card on view at that moment may be shown."""
    private_view: Callable[[S, Seat], Private]
    opened_view: Callable[[S], Opened]
    previous: Callable[[S], Previous | None]
    scores: Callable[[S], tuple[Score, ...]]
    hand_scores: Callable[[S], tuple[HandScore, ...]]
    pot: Callable[[S], int]
    rightful_taker: Callable[[S], Seat | None]
    """Whose the trick on the table is by right, where one lies there complete."""
    challenges: Callable[[Iterable[tuple[int, Any]]], list[Challenge]]
    """Every challenge in these events (version and event) with its evidence."""
    cites: Mapping[type[Event], str]
    """The sections of the rulebook that an event of this type follows from."""
    narrate: Callable[[Telling, Any, int], None]
    """Tell an event of the game (hidden fields None) in a replay."""
    careful: Bot


Cards = tuple[Card, ...]
