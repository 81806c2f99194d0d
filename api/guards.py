"""Guards of the routes: they sign the caller in, find the game and let the caller in to it.

Routes are declared by the `get`, `post` and `delete` of this module, whose guards cost less.
"""

from functools import partial
from ipaddress import ip_address
from typing import Any, Final

from litestar.connection import ASGIConnection
from litestar.enums import HttpMethod
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler
from litestar.types import Guard

from api.access import Access, admit
from api.games import Known
from api.identity import Caller
from api.parts import Parts
from api.problems import Problem, not_found
from domain.visibility import Role

Connection = ASGIConnection[Any, Any, Any, Any]

_FORWARDED: Final = frozenset({"forwarded", "x-forwarded-for", "x-real-ip", "via"})
"""Headers that a proxy adds."""


class _Guarded(HTTPRouteHandler):
    """A route whose guards are given the route itself: a copy for each request, as the framework
    makes one, takes longer than what they do."""

    async def authorize_connection(self, connection: Connection) -> None:
        """Ask the guards. Raises Problem."""
        for guard in self.resolve_guards():
            await guard(connection, self)  # type: ignore[misc]


get: Final = partial(_Guarded, http_method=HttpMethod.GET)
post: Final = partial(_Guarded, http_method=HttpMethod.POST)
delete: Final = partial(_Guarded, http_method=HttpMethod.DELETE)


async def enter(caller: Caller, game_id: str, parts: Parts, *, fresh: bool) -> Known:
    """The game, once the caller has been let in; a refusal is never judged on an old state."""
    if caller.role != "host" and caller.game != game_id:
        # One that its own game has revoked is not valid anywhere, which comes first.
        await enter(caller, caller.game, parts, fresh=True)
        raise not_found()
    if not fresh:
        known = await parts.games.get(game_id)
        if known is not None:
            try:
                admit(caller, known)
            except Problem:
                pass
            else:
                return known
    known = await parts.games.fresh(game_id)
    if known is None:
        raise not_found()
    admit(caller, known)
    return known


def only(*roles: Role) -> Guard:
    """A guard that signs the caller in, lets them in to the game that the path names, else to that
    of their token, and asks for one of these roles."""

    async def guard(connection: Connection, _: BaseRouteHandler) -> None:
        parts: Parts = connection.app.state.parts
        caller = parts.limits.signed_in(connection, parts.keyring)
        # A token is for one game, and good for nothing where that game has revoked it.
        game_id = connection.path_params.get("game_id") or caller.game
        if game_id:
            fresh = connection.scope.get("method") == "GET"
            try:
                known = await enter(caller, str(game_id), parts, fresh=fresh)
            except Problem as problem:
                parts.limits.turned_away(connection, problem)
                raise
            # Not by `connection.state`, which is made anew each time that it is asked for.
            connection.scope["state"]["access"] = Access(caller, known)
        connection.scope["state"]["caller"] = caller
        if caller.role not in roles:
            raise Problem("forbidden", f"This is for: {', '.join(roles)}.")

    return guard


anyone = only("seat", "spectator", "host")
"""A guard for everyone who has been let in to the game."""


async def on_this_machine_or_keyed(connection: Connection, _: BaseRouteHandler) -> None:
    """A guard for figures: even a count of refusals can tell a player what another tried."""
    parts: Parts = connection.app.state.parts
    client = connection.client
    near = client is not None and ip_address(client.host).is_loopback
    # What a proxy on this machine passes on comes from elsewhere.
    if near and not _FORWARDED.intersection(connection.headers):
        return
    if parts.limits.reads_figures(connection, parts.keyring):
        return
    if parts.limits.signed_in(connection, parts.keyring).role != "host":
        raise Problem("forbidden", "This is for: host.")
