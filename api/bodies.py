"""Request bodies, decoded strictly: a string is no number, and nothing unknown passes."""

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

import msgspec
from litestar import Request
from litestar.exceptions import InternalServerException

from api.problems import invalid, invalid_body
from domain.actions import Action
from domain.codec import AnyAction
from domain.dispute_stream import Outcome
from domain.disputes import Claim
from domain.receipts import Receipt
from domain.table.commands import BotName, Clock, LabelName

_UNSEEN: Final = r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
"""Control characters, line separators and what turns the direction of writing: they would bend a
transcript in which the text stands."""
_PLAIN: Final = rf"^(?![\s\S]*{_UNSEEN})[\s\S]*\S"
"""None of those anywhere, and something other than spaces."""
_REF: Final = rf"^(?!\.{{1,2}}$)(?!/+$)(?![\s\S]*{_UNSEEN})[\s\S]*\S"
"""Nor what no path can end in, since a reference is where a person is looked up and erased."""

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=64, pattern=_PLAIN)]
Ref = Annotated[str, msgspec.Meta(min_length=1, max_length=128, pattern=_REF)]
Words = Annotated[str, msgspec.Meta(max_length=200, pattern=rf"^(?![\s\S]*{_UNSEEN})")]
MOST_LABELS: Final = 16
Labels = Annotated[dict[LabelName, Words], msgspec.Meta(max_length=MOST_LABELS)]

if TYPE_CHECKING:
    AskedAction: TypeAlias = Action
else:
    AskedAction = AnyAction
"""An action of any game, told apart by `type`."""


class Person(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A player: the name that all see, and the host's own reference to them, seen by it alone."""

    name: Name
    ref: Ref | None = None


class NewPlayer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who takes a seat: a person by name, or a bot (which may be given a name too, and a pace: it
    acts so many milliseconds after what lets it act)."""

    name: Name | None = None
    ref: Ref | None = None
    bot: BotName | None = None
    delay_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = 0

    def __post_init__(self) -> None:
        if self.name is None and self.bot is None:
            raise ValueError("a player has a `name`, or is a `bot`")
        if self.bot is not None and self.ref is not None:
            raise ValueError("a bot has no `ref`")
        if self.bot is None and self.delay_ms:
            raise ValueError("only a bot has a `delay_ms`")


class NewGame(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A game to set up. `players` take the first seats in order, `open_seats` more stay open."""

    game: str
    players: Annotated[list[NewPlayer], msgspec.Meta(max_length=10)]
    rules: dict[str, Any] = {}
    clock: Clock | None = None
    labels: Labels = {}
    open_seats: Annotated[int, msgspec.Meta(ge=0, le=10)] = 0


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a request that has nothing to say: none, or an empty object."""


class Abandonment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why a game is abandoned; everyone can read it."""

    reason: Words = ""


Text = Annotated[
    str, msgspec.Meta(max_length=2000, pattern=r"^(?![\s\S]*[\x00-\x08\x0b-\x1f\x7f])")
]
"""Words over several lines."""


class NewClaim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is wrong with an event: the trick went to another, the cards dealt were others, the
    score is wrong, the action was impossible, or the log itself has been tampered with."""

    kind: Claim
    text: Text | None = None


class KeptReceipt(Receipt, frozen=True, forbid_unknown_fields=True):
    """A receipt that the claimant kept."""


class NewDispute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A dispute to open about the event of `version`; a `receipt` that was kept is held against the
    log."""

    version: Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
    claim: NewClaim
    receipt: KeptReceipt | None = None


class NewResolution(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a host settles a dispute; the parties can read the note."""

    outcome: Outcome
    note: Text | None = None


HookKind: TypeAlias = Literal["event", "turn"]
"""What a webhook may be told: each public event, or whose turn it has become."""


class NewWebhook(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A URL that is to be told what happens in the host's games (of some kinds, or of all), with a
    secret of the host's own, if it has one, which signs what is sent."""

    # Printable ASCII without spaces and backslashes, which are read in more ways than one.
    url: Annotated[str, msgspec.Meta(max_length=2000, pattern=r"^[\x21-\x5b\x5d-\x7e]+$")]
    kinds: Annotated[list[HookKind], msgspec.Meta(min_length=1, max_length=2)]
    games: Annotated[list[str], msgspec.Meta(min_length=1, max_length=16)] | None = None
    secret: (
        Annotated[str, msgspec.Meta(max_length=100, pattern=r"^whsec_[A-Za-z0-9+/]+={0,2}$")] | None
    ) = None


class StrictRequest(Request[Any, Any, Any]):
    """A request whose JSON is read as exactly what the handler's `data` declares."""

    async def body(self) -> bytes:
        """The whole body. Raises the problem `invalid-request` where it does not come whole."""
        try:
            return await super().body()
        except InternalServerException:
            # The framework's word for a connection that ended, or framing that broke, in the body.
            raise invalid("$", "the body is not complete") from None

    async def json(self) -> Any:
        """The body as the handler's type. Raises the problem `invalid-request`."""
        field = self.route_handler.parsed_data_field
        assert field is not None
        raw = await self.body()
        if not raw and field.is_optional:
            return None
        try:
            return _decoder(field.annotation).decode(raw)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise invalid_body(error) from None


_decoders: dict[Any, msgspec.json.Decoder[Any]] = {}


def _decoder(annotation: Any) -> msgspec.json.Decoder[Any]:
    found = _decoders.get(annotation)
    if found is None:
        found = _decoders[annotation] = msgspec.json.Decoder(annotation, strict=True)
    return found
