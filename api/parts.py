"""What a running process is made of; `app` puts it together, the routes take it apart."""

import msgspec

from api.cursors import Cursors
from api.disputes import Disputes
from api.execute import Executor
from api.games import Games
from api.identity import Keyring
from api.limits import Limits
from api.live import Live
from api.notices import Notices
from api.settings import Settings
from api.signing import Signer
from api.streaming import Patience
from api.webhooks import Webhooks
from eventstore.postgres import EventStore


class Leaving(msgspec.Struct):
    """Whether others are to take over from this process."""

    begun: bool = False


class Parts(msgspec.Struct, frozen=True):
    """The parts of one process of the API."""

    settings: Settings
    store: EventStore
    games: Games
    keyring: Keyring
    notices: Notices
    executor: Executor
    signer: Signer
    disputes: Disputes
    live: Live
    patience: Patience
    cursors: Cursors
    webhooks: Webhooks
    leaving: Leaving
    limits: Limits

    def leave(self) -> None:
        """Others are to take over: say so to whoever asks, and keep no connection for more."""
        self.leaving.begun = True

    def release(self) -> None:
        """The process is about to end: whoever waits is answered, and live streams say goodbye."""
        self.notices.release()
        self.patience.end()
