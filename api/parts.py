"""What a running process is made of; `app` puts it together, the routes take it apart."""

import msgspec

from api.cursors import Cursors
from api.disputes import Disputes
from api.execute import Executor
from api.games import Games
from api.identity import Keyring
from api.notices import Notices
from api.settings import Settings
from api.signing import Signer
from eventstore.postgres import EventStore


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
    cursors: Cursors
