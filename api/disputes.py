"""Disputes on the store: opened, found, completed when a hand is opened, and resolved.

The only caller of the store's append for disputes, as `execute` is for games. A finding is made by
`domain.disputes`, from what everybody may see of the game.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final
from weakref import WeakValueDictionary

import msgspec

from api.batch import new_event
from api.games import Games
from api.ids import new_id
from api.kept_answer import kept_receipt
from api.logs import note_command
from api.problems import Problem, invalid, key_mismatch, not_found, unavailable
from api.signing import Signer
from domain.dispute_stream import (
    Dispute,
    DisputeEvent,
    DisputeFound,
    DisputeOpened,
    Outcome,
    State,
    check_words,
    fold_dispute,
    personal_words,
    record_dispute,
    resolve,
)
from domain.disputes import Finding, find
from domain.game import Refused
from domain.log import Circumstances
from domain.receipts import Receipt, signature_problem
from domain.seats import Seat
from eventstore.postgres import EventStore
from eventstore.records import (
    Answer,
    Append,
    Appended,
    CallerKey,
    KeyMismatch,
    Replayed,
    WrongVersion,
)
from projections.disputes import CATEGORY, Place
from projections.entries import entries

_SOON: Final = 5_000_000
_LATER: Final = 10_000_000
"""Microseconds until a pending finding is looked at again, should nothing have done it before."""

_TRIES: Final = 5

MOST_UNSETTLED: Final = 100
"""Disputes of one seat about its game that may wait for the host at a time."""

_UNSETTLED: Final = "unsettled="


class Told(msgspec.Struct, frozen=True):
    """A dispute, and whether it is told again to whom it was told before."""

    dispute: Dispute
    tenant: str
    replayed: bool = False


class Disputes:
    """The disputes of one store."""

    def __init__(
        self,
        store: EventStore,
        games: Games,
        signer: Signer,
        clock: Callable[[], int] = lambda: time.time_ns() // 1000,
    ) -> None:
        """`clock` gives microseconds since 1970 UTC."""
        self._store: Final = store
        self._games: Final = games
        self._signer: Final = signer
        self._clock: Final = clock
        self._turns: Final[WeakValueDictionary[tuple[str, Seat], asyncio.Lock]] = (
            WeakValueDictionary()
        )

    async def open(self, event: DisputeOpened, tenant: str, key: CallerKey | None) -> Told:
        """Open a dispute with its finding as far as it goes, or tell again what the key opened.

        Raises Problem: `invalid-request` where the game has no such version or the receipt is not
        the service's, `illegal-action` where the host has too many of the seat's to settle,
        `idempotency-mismatch`.
        """
        if event.seat is None:
            return await self._open(event, tenant, key)
        # A seat's disputes one after another, so that a process lets none through beyond the limit.
        async with self._turns.setdefault((event.game, event.seat), asyncio.Lock()):
            return await self._open(event, tenant, key)

    async def _open(self, event: DisputeOpened, tenant: str, key: CallerKey | None) -> Told:
        known = await self._looked_up(key)
        if known is not None:
            return known
        if event.seat is not None:
            await self._count(event.game, event.seat, tenant)
        if event.receipt is not None:
            self._check(event.receipt, event.game)
        finding = await self._finding(event)
        try:
            check_words(event.words, await self._is_erased(event))
        except Refused as refused:
            raise _refusal(refused, None) from None
        at = self._clock()
        stream = new_id()
        parts: list[Sequence[DisputeEvent]] = [[event], [DisputeFound(finding)]]
        match await self._append(stream, None, parts, at, event.seat, tenant, key):
            case Dispute() as dispute:
                if event.words is not None and await self._is_erased(event):
                    # Erased while this was written: nobody else comes to erase these words.
                    await self._store.erase(stream, [(1, 0)])
                    return await self.get(stream)
                return Told(dispute, tenant)
            case Replayed(answer):
                return await self._again(answer)
            case KeyMismatch():
                raise key_mismatch()
            case WrongVersion():
                raise unavailable("The new dispute's id was taken; try again.")

    async def get(self, stream: str) -> Told:
        """A dispute as it stands. Raises `not-found`."""
        return await self._at(stream, None)

    async def page(self, places: Sequence[Place], state: State | None) -> list[Dispute]:
        """The disputes of a list as they stand, less those that have left the state since."""
        found = [(await self.get(place.dispute)).dispute for place in places]
        return [dispute for dispute in found if state in (None, dispute.state)]

    async def resolve(
        self, stream: str, outcome: Outcome, note: str | None, key: CallerKey | None
    ) -> Told:
        """Settle a dispute, or tell again what the key settled.

        Raises Problem: `not-found`, `illegal-action` where it has been settled before,
        `idempotency-mismatch`.
        """
        for _ in range(_TRIES):
            known = await self._looked_up(key)
            if known is not None:
                return known
            told = await self.get(stream)
            opened = told.dispute.opened
            try:
                event = resolve(told.dispute, outcome, note)
                check_words(event.note, await self._is_erased(opened))
            except Refused as refused:
                raise _refusal(refused, told.dispute.version) from None
            at = max(self._clock(), told.dispute.at)
            match await self._append(stream, told.dispute, [[event]], at, None, told.tenant, key):
                case Dispute() as dispute:
                    if event.note is not None and await self._is_erased(opened):
                        # Erased while this was written: nobody else comes to erase the note.
                        await self._store.erase(stream, [(dispute.version, 0)])
                        return await self.get(stream)
                    return Told(dispute, told.tenant)
                case Replayed(answer):
                    return await self._again(answer)
                case KeyMismatch():
                    raise key_mismatch()
                case WrongVersion():
                    continue
        raise unavailable("The dispute is moving on too fast; try again.")

    async def complete(self, stream: str) -> None:
        """Complete a finding that waited for a hand to be opened, or look again later."""
        told = await self.get(stream)
        dispute = told.dispute
        if not dispute.awaits_opening:
            await self._store.wake(stream, dispute.version, None)
            return
        finding = await self._finding(dispute.opened)
        at = max(self._clock(), dispute.at)
        if finding.verdict == "pending":
            await self._store.wake(stream, dispute.version, at + _LATER)
            return
        # Whoever appended first has completed it as well.
        events = [[DisputeFound(finding)]]
        await self._append(stream, dispute, events, at, None, told.tenant, None)

    async def complete_of(self, game_id: str) -> None:
        """Complete all that waited for a hand of a game to be opened."""
        known = await self._games.get(game_id)
        if known is None:
            return
        tags = (CATEGORY, f"of={game_id}", "awaits=opening")
        before: str | None = None
        while heads := await self._store.find(known.tenant, tags, before, 100, (CATEGORY,)):
            for head in heads:
                await self.complete(head.stream)
            before = heads[-1].stream

    async def erase_words(
        self, tenant: str, game_id: str, seat: Seat, names: Collection[str]
    ) -> None:
        """Erase what a seat has written in the disputes of a game, what the host has noted on its
        disputes, and whatever else is written there that has one of the names in it."""
        before: str | None = None
        tags = (CATEGORY, f"of={game_id}")
        while heads := await self._store.find(tenant, tags, before, 100, (CATEGORY,)):
            for head in heads:
                log = entries(await self._store.read(head.stream))
                await self._store.erase(head.stream, personal_words(log, seat, names))
            before = heads[-1].stream

    async def _count(self, game_id: str, seat: Seat, tenant: str) -> None:
        """Raises `illegal-action` where as many of a seat's disputes wait for the host as may."""
        tags = (CATEGORY, f"of={game_id}", f"{_UNSETTLED}{seat}")
        waiting = await self._store.find(tenant, tags, None, MOST_UNSETTLED, (CATEGORY,))
        if len(waiting) < MOST_UNSETTLED:
            return
        game = await self._games.fresh(game_id)
        detail = f"{len(waiting)} of your disputes about this game wait for the host to settle them"
        refused = Refused("dispute.too-many", detail)
        raise _refusal(refused, None if game is None else game.table.version)

    async def _is_erased(self, event: DisputeOpened) -> bool:
        """Whether the seat that disputes is one whose player has been erased by now."""
        known = await self._games.fresh(event.game)
        return (
            known is not None and event.seat is not None and (known.table.seats[event.seat].erased)
        )

    def _check(self, receipt: Receipt, game_id: str) -> None:
        """A receipt that the service did not give proves nothing. Raises `invalid-request`."""
        if receipt.game != game_id:
            raise invalid("$.receipt", "it is of another game")
        problem = signature_problem(receipt, self._signer.keys)
        if problem is not None:
            raise invalid("$.receipt", problem)

    async def _finding(self, event: DisputeOpened) -> Finding:
        # The receipt first: one of what is appended meanwhile would seem to tell of a cut tail.
        kept = await self._newest_kept(event.game)
        history = await self._games.history(event.game)
        table = history.newest.table
        if not 1 <= event.disputed <= table.version:
            raise invalid("$.version", f"the game has versions 1 to {table.version}")
        receipts = {"given": event.receipt, "stored": kept}
        # In a thread: a long game takes the rules a while.
        return await asyncio.to_thread(
            find,
            table,
            history.entries,
            event.disputed,
            event.claim,
            table.openings,
            {origin: receipt for origin, receipt in receipts.items() if receipt is not None},
            self._signer.keys,
        )

    async def _newest_kept(self, game_id: str) -> Receipt | None:
        """The newest receipt that the store has kept of a game, where its key is still known."""
        answers = await self._store.answers(game_id)
        keys = {key.kid for key in self._signer.keys}
        for answer in reversed(answers):
            if answer.stream == game_id:
                receipt = kept_receipt(answer)
                return receipt if receipt.key in keys else None
        return None

    async def _append(
        self,
        stream: str,
        before: Dispute | None,
        commands: Sequence[Sequence[DisputeEvent]],
        at: int,
        actor: Seat | None,
        tenant: str,
        key: CallerKey | None,
    ) -> Dispute | Replayed | KeyMismatch | WrongVersion:
        """Append commands one after another: the first is the actor's, the others are ours."""
        log: list[Any] = []
        dispute = before
        for events in commands:
            shared = Circumstances(at, None if log else actor, new_id(at))
            made = record_dispute(stream, dispute, events, shared, secrets.token_bytes(32))
            log += made
            dispute = fold_dispute(stream, made, dispute)
        assert dispute is not None
        wake_at = at + _SOON if dispute.awaits_opening else None
        outcome = await self._store.append(
            Append(
                stream=stream,
                expected=log[0].version - 1,
                prev=log[0].prev,
                events=tuple([new_event(entry) for entry in log]),
                command=log[0].command,
                answer=Answer(stream, log[0].version, log[-1].version, b""),
                key=key,
                wake_at=wake_at,
                tags=dispute_tags(dispute),
                tenant=tenant,
                category=CATEGORY,
            )
        )
        if not isinstance(outcome, Appended):
            return outcome
        note_command(log[0].command)
        return dispute

    async def _looked_up(self, key: CallerKey | None) -> Told | None:
        """What the caller's key did before, if it did anything."""
        if key is None:
            return None
        match await self._store.answer(key):
            case Replayed(answer):
                return await self._again(answer)
            case KeyMismatch():
                raise key_mismatch()
            case None:
                return None

    async def _again(self, answer: Answer) -> Told:
        told = await self._at(answer.stream, answer.last_version)
        return msgspec.structs.replace(told, replayed=True)

    async def _at(self, stream: str, version: int | None) -> Told:
        loaded = await self._store.load(stream)
        if loaded is None or loaded[0].category != CATEGORY:
            raise not_found()
        head, events = loaded
        return Told(fold_dispute(stream, entries(events[:version])), head.tenant)


def dispute_tags(dispute: Dispute) -> tuple[str, ...]:
    """What a dispute of a game can be found by in the transaction that asks (see `projections` for
    lists)."""
    waits = ("awaits=opening",) if dispute.awaits_opening else ()
    seat = dispute.opened.seat
    unsettled = () if seat is None or dispute.resolution else (f"{_UNSETTLED}{seat}",)
    return (CATEGORY, f"of={dispute.opened.game}", *waits, *unsettled)


def former_dispute_tags(tags: Sequence[str]) -> list[str]:
    """The same as they were before a seat's disputes were counted: of streams from then."""
    return [tag for tag in tags if not tag.startswith(_UNSETTLED)]


def _refusal(refused: Refused, version: int | None) -> Problem:
    return Problem("illegal-action", refused.detail, rule=refused.rule, version=version)
