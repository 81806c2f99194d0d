"""One worker process of `fairdeal serve`: the application, and how it ends."""

import asyncio
import gc
import multiprocessing
import os
import threading
from typing import TYPE_CHECKING, Final

from api import doors, logs, settings, tracing, workers

if TYPE_CHECKING:
    from litestar import Litestar

_CUT_SECONDS: Final = 2.5
"""How long, once the process ends, callers may take for what they have asked for."""
_REPLACED_SECONDS: Final = 12.0
"""The same where a successor serves already: there is time for every answer."""


_NEW_OBJECTS: Final = 20_000
"""So many more objects made than dropped, and the garbage collector looks for cycles."""


def application() -> "Litestar":
    """The application of this process, which ends when the process that started it does."""
    from api.app import create_app

    parent = multiprocessing.parent_process()
    if parent is not None:

        def end_with_parent() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=end_with_parent, name="parent-watch", daemon=True).start()
    logs.begin()
    tracing.begin()
    app = create_app(settings.from_environment())

    async def hear_the_end() -> None:
        # What is here now stays, and what a request makes has mostly no cycles: looking for them
        # after every 700 objects took a sixteenth of a busy worker's time.
        gc.collect()
        gc.freeze()
        gc.set_threshold(_NEW_OBJECTS)
        loop = asyncio.get_running_loop()
        entry = doors.Doors()

        replaced = False

        def close() -> None:
            nonlocal replaced
            replaced = True
            entry.close()

        def end() -> None:
            app.state.parts.release()
            # A caller who takes nothing would be waited for until the process is killed.
            loop.call_later(_REPLACED_SECONDS if replaced else _CUT_SECONDS, entry.cut_all)

        loop.add_signal_handler(workers.LEAVING, app.state.parts.leave)
        loop.add_signal_handler(workers.REPLACED, close)
        loop.add_signal_handler(workers.ENDING, end)
        workers.say_ready()

    app.on_startup.append(hear_the_end)
    return app
