"""The parts list: settings in, an ASGI application out."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

from litestar import Litestar
from litestar.di import Provide
from litestar.types import Message, Scope

from api import hook_feed, metrics, problems, schema, tracing, upkeep, waker
from api.bodies import StrictRequest
from api.channel import channel_of
from api.cursors import Cursors
from api.disputes import Disputes
from api.execute import Executor
from api.games import Games
from api.head import HeadAsGet
from api.hook_sender import Sender
from api.identity import Keyring
from api.limits import Limits
from api.live import Live
from api.notices import Notices
from api.parts import Leaving, Parts
from api.requests import Watched, foresee
from api.routes.disputes import DisputesController
from api.routes.games import GamesController
from api.routes.health import HealthController
from api.routes.leaderboards import LeaderboardsController
from api.routes.log import LogController
from api.routes.play import PlayController
from api.routes.players import PlayersController
from api.routes.proof import KeysController, ProofController
from api.routes.rules import RulesController
from api.routes.table import TableController
from api.routes.webhooks import WebhooksController
from api.settings import Settings
from api.siblings import siblings
from api.signing import Signer
from api.streaming import Patience
from api.webhooks import Webhooks
from eventstore.postgres import EventStore


def create_app(settings: Settings) -> Litestar:
    """The application of one process."""
    leaving = Leaving()

    def parts() -> Parts:
        found: Parts = app.state.parts
        return found

    keyring = Keyring(
        settings.host_keys, settings.secret, settings.token_seconds, settings.metrics_key
    )
    app = Litestar(
        route_handlers=[
            RulesController,
            GamesController,
            PlayController,
            LogController,
            ProofController,
            KeysController,
            DisputesController,
            PlayersController,
            LeaderboardsController,
            WebhooksController,
            HealthController,
            metrics.scrape,
            TableController,
        ],
        dependencies={"parts": Provide(parts, sync_to_thread=False)},
        request_class=StrictRequest,
        request_max_body_size=settings.body_bytes,
        exception_handlers=problems.HANDLERS,
        before_send=[_mark, *tracing.marks()],
        plugins=tracing.plugins(),
        lifespan=[_running(settings, leaving, keyring)],
        openapi_config=schema.config(),
        logging_config=None,
        debug=False,
    )
    foresee(app.routes)
    # Outside of routing, so that what finds no route is told of too.
    inner = HeadAsGet(app.asgi_handler)
    app.asgi_handler = Watched(inner, settings.log_slow_seconds, leaving, keyring)
    return app


def _running(settings: Settings, leaving: Leaving, keyring: Keyring) -> Callable[[Litestar], Any]:
    signer = Signer(settings.signing_keys, settings.signing_keys_file)

    @asynccontextmanager
    async def running(app: Litestar) -> AsyncIterator[None]:
        async with AsyncExitStack() as ending:
            opened = EventStore.open(
                settings.database_url,
                max_size=settings.database_connections,
                min_size=min(2, settings.database_connections),
                prepare=settings.database_prepare,
                deadline_seconds=settings.database_deadline_seconds,
            )
            store = await ending.enter_async_context(opened)
            games = Games(store, settings.games_cached)
            notices = Notices(
                store,
                channel_of(settings, store),
                poll_seconds=settings.poll_seconds,
                look_seconds=settings.look_seconds,
            )

            def heard(game_id: str, version: int, news: bytes) -> None:
                games.told(game_id, news)
                notices.hear(game_id, version)

            others = ending.enter_context(siblings(heard))
            executor = Executor(store, games, notices, settings, signer, others)
            disputes = Disputes(store, games, signer)
            live = Live(store, games, notices, settings.heartbeat_seconds)
            patience = Patience(settings.stall_seconds)
            app.state.parts = Parts(
                settings,
                store,
                games,
                keyring,
                notices,
                executor,
                signer,
                disputes,
                live,
                patience,
                Cursors(settings.secret),
                Webhooks(store, private=settings.webhooks_private),
                leaving,
                Limits(settings),
            )
            sender = Sender(store, games, settings)
            # Each a task of its own, so that each can be ended.
            tasks = [
                asyncio.create_task(work)
                for work in (
                    *notices.work(),
                    waker.run(store, executor, disputes, settings.wake_seconds),
                    hook_feed.run(settings, store, games, sender.news),
                    sender.run(),
                    metrics.sample(store, notices),
                )
            ]
            if others is not None:
                tasks.append(asyncio.create_task(others.run()))
            await upkeep.provide(settings)
            tasks.append(asyncio.create_task(upkeep.run(settings, store)))
            try:
                yield
            finally:
                app.state.parts.release()
                for task in tasks:
                    await _end(task)

    return running


async def _end(task: asyncio.Task[None]) -> None:
    """Cancel until it takes: Python 3.11's `wait_for`, on which the connection pool waits, loses a
    cancellation that comes together with what it waits for (python/cpython#86296)."""
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=0.1)


_EVERYWHERE: Final = (
    (b"cache-control", b"private, no-cache"),
    (b"vary", b"Authorization, Accept"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)
_POLICY: Final = b"content-security-policy"
_NOTHING: Final = (_POLICY, b"default-src 'none'; frame-ancestors 'none'")


async def _mark(message: Message, _: Scope) -> None:
    """Headers of every answer: nobody else's cache keeps it, no browser guesses at it, and what is
    no page of ours (those bring a policy of their own) is none, whatever a browser takes it for."""
    if message["type"] != "http.response.start":
        return
    own = message["headers"]
    more = _EVERYWHERE if any(name == _POLICY for name, _ in own) else (*_EVERYWHERE, _NOTHING)
    message["headers"] = [*own, *more]
