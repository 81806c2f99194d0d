"""One worker process of `fairdeal serve`: the application, its HTTP server, and how it ends.

`python -m api.worker FD BACKLOG` serves at the listening socket of that number, until the process
that started it says so or is no more.
"""

import asyncio
import socket
import sys
from typing import Final

import uvloop

from api import children, logs, settings, tracing, workers
from api.app import create_app
from api.connections import Server

_CUT_SECONDS: Final = 2.5
"""How long, once the process ends, callers may take for what they have asked for."""
_REPLACED_SECONDS: Final = 12.0
"""The same where a successor serves already: there is time for every answer."""


def main(descriptor: int, backlog: int) -> None:
    """Serve until told to end, in the environment that standard input gives."""
    children.be_a_child()
    logs.begin()
    tracing.begin()
    found = settings.from_environment()
    app = create_app(found)

    def begun() -> None:
        children.collect_seldom()
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
        loop.add_signal_handler(children.ENDING, end)
        children.say_ready()

    server = Server(app, backlog, found.body_seconds, begun)
    uvloop.run(server.serve([socket.socket(fileno=descriptor)]))


if __name__ == "__main__":
    main(*[int(argument) for argument in sys.argv[1:]])
