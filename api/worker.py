"""One worker process of `fairdeal serve`: the application, its HTTP server, and how it ends.

`python -m api.worker FD BACKLOG` serves at the listening socket of that number, until the process
that started it says so or is no more.
"""

import asyncio
import gc
import json
import os
import socket
import sys
import threading
from typing import Final

import uvloop

from api import logs, settings, tracing, workers
from api.app import create_app
from api.connections import Server

_CUT_SECONDS: Final = 2.5
"""How long, once the process ends, callers may take for what they have asked for."""
_REPLACED_SECONDS: Final = 12.0
"""The same where a successor serves already: there is time for every answer."""
_NEW_OBJECTS: Final = 20_000
"""So many more objects made than dropped, and the garbage collector looks for cycles."""


def main(descriptor: int, backlog: int) -> None:
    """Serve until told to end, in the environment that standard input gives."""
    given = sys.stdin.buffer.readline()
    if not given:
        sys.exit(1)
    os.environ.update(json.loads(given))
    threading.Thread(target=_end_with_parent, name="parent-watch", daemon=True).start()
    logs.begin()
    tracing.begin()
    found = settings.from_environment()
    app = create_app(found)

    def begun() -> None:
        # What is here now stays, and what a request makes has mostly no cycles: looking for them
        # after every 700 objects took a sixteenth of a busy worker's time.
        gc.collect()
        gc.freeze()
        gc.set_threshold(_NEW_OBJECTS)
        loop = asyncio.get_running_loop()
        replaced = False

        def close() -> None:
            nonlocal replaced
            replaced = True
            server.close()

        def end() -> None:
            if not server.should_exit:
                server.should_exit = True
                server.close()
                app.state.parts.release()
                # A caller who takes nothing would be waited for until the process is killed.
                loop.call_later(_REPLACED_SECONDS if replaced else _CUT_SECONDS, server.cut_all)

        loop.add_signal_handler(workers.LEAVING, app.state.parts.leave)
        loop.add_signal_handler(workers.REPLACED, close)
        loop.add_signal_handler(workers.ENDING, end)
        workers.say_ready()

    server = Server(app, backlog, found.body_seconds, begun)
    uvloop.run(server.serve([socket.socket(fileno=descriptor)]))


def _end_with_parent() -> None:
    """The parent holds the other end of standard input, however it ends."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    main(*[int(argument) for argument in sys.argv[1:]])
