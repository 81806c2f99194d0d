"""What an append sends, and what it is answered: the parameters and rows of `fairdeal.append`."""

from collections.abc import Iterable, Sequence

from msgspec.structs import astuple

from eventstore import wire
from eventstore.pool import Row
from eventstore.records import (
    Answer,
    Append,
    Appended,
    KeyMismatch,
    Outcome,
    Replayed,
    SealedPart,
    WrongVersion,
)


def check(request: Append) -> None:
    """Raise ValueError where a request contradicts itself."""
    answer, last = request.answer, request.expected + len(request.events)
    if not request.events:
        raise ValueError("an append holds at least one event")
    if answer.stream != request.stream:
        raise ValueError("an append's answer is about the append's own stream")
    if not request.expected < answer.first_version <= answer.last_version <= last:
        raise ValueError("an append's answer is about the append's own events")


def parameters(request: Append) -> tuple[bytes | None, ...]:
    """The parameters of `fairdeal.append`, in its order."""
    stream = wire.uuid(request.stream)
    lane = wire.int2(wire.lane(stream))
    answer, key = request.answer, request.key
    scope = stream if key is None else wire.scope(key.scope)
    types, schemas, ats, actors, commands, datas, hashes, sealed = zip(
        *map(astuple, request.events), strict=True
    )
    return (
        lane,
        stream,
        wire.int4(request.expected),
        request.prev,
        wire.uuid(request.command),
        request.tenant.encode(),
        request.category.encode(),
        request.secret,
        None if request.tags is None else wire.texts(request.tags),
        wire.int8(request.wake_at),
        wire.texts(types),
        wire.int2s(schemas),
        wire.int8s(ats),
        wire.int2s(actors),
        wire.uuids(commands),
        wire.byteas(datas),
        wire.byteas(hashes),
        *_sealed_parameters(request.expected + 1, sealed),
        lane if scope == stream else wire.int2(wire.lane(scope)),
        scope,
        None if key is None else wire.half_digest(key.key),
        None if key is None else wire.half_digest(key.fingerprint),
        wire.int4(answer.first_version),
        wire.int4(answer.last_version),
        None if key is None else answer.response,
    )


def locks(sent: tuple[bytes | None, ...]) -> tuple[bytes, ...]:
    """The ids that `fairdeal.append` locks: the stream and the scope of the key."""
    return tuple([value for value in (sent[1], sent[24]) if value is not None])


def parts(erased: Iterable[tuple[int, int]]) -> tuple[bytes, bytes]:
    """Versions and part numbers, as `fairdeal.erase` takes them."""
    wanted = sorted(set(erased))
    return wire.int4s(v for v, _ in wanted), wire.int2s(part for _, part in wanted)


def _sealed_parameters(
    first: int, sealed: Sequence[tuple[SealedPart, ...]]
) -> tuple[bytes | None, ...]:
    """Of the sealed parts of events that follow one another from version `first` on."""
    found = [
        (version, place, *astuple(part))
        for version, parts in enumerate(sealed, first)
        for place, part in enumerate(parts)
    ]
    if not found:
        return (None,) * 6
    versions, places, audiences, digests, salts, bodies = zip(*found, strict=True)
    return (
        wire.int4s(versions),
        wire.int2s(places),
        wire.texts(audiences),
        wire.byteas(digests),
        wire.byteas(salts),
        wire.byteas(bodies),
    )


def outcome(row: Row) -> Outcome:
    """What a row of `fairdeal.append` says."""
    word, version, stream, first, last, response = row
    match word:
        case "appended":
            return Appended(version)
        case "replayed":
            return Replayed(
                Answer(stream=stream, first_version=first, last_version=last, response=response)
            )
        case "mismatch":
            return KeyMismatch()
        case "wrong-version":
            return WrongVersion(version)
        case _:
            raise ValueError(f"fairdeal.append answered {word!r}")
