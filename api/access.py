"""Whether a caller is let in to a game. Knows tenants, seats and generations, no route."""

import msgspec

from api.games import Known
from api.identity import Caller
from api.problems import not_found, unauthorized


class Access(msgspec.Struct, frozen=True):
    """A caller who has been let in to a game, and the game (for GET as of this request)."""

    caller: Caller
    known: Known


def admit(caller: Caller, known: Known) -> None:
    """Let the caller in to the game. Raises `not-found` where it is another tenant's or the token
    is for another game, `unauthorized` where the token has been revoked."""
    table = known.table
    match caller.role:
        case "host":
            if caller.tenant != known.tenant:
                raise not_found()
        case _ if caller.game != table.id:
            raise not_found()
        case "spectator":
            if not 1 <= caller.generation <= table.spectators:
                raise unauthorized("The token is not valid.")
        case "seat":
            seat = -1 if caller.seat is None else caller.seat
            if not 0 <= seat < len(table.seats):
                raise unauthorized("The token is not valid.")
            if table.seats[seat].generation != caller.generation:
                raise unauthorized("The token has been revoked: a newer one was issued.")
