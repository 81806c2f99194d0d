"""What wants attention, and a process that ends just then."""

import asyncio
import gc
import warnings
from contextlib import suppress
from typing import Any

from api import waker


class Wanting:
    """In the place of an executor: games want attention, and nothing has begun."""

    def __init__(self) -> None:
        self.opened: set[str] = set()
        self.wanting = {"a", "b"}

    async def go_on(self, _: str) -> None:
        raise AssertionError("it was to be cancelled before")


async def test_who_is_stopped_before_it_begins_leaves_nothing_half_begun() -> None:
    executor: Any = Wanting()
    disputes: Any = None
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        telling = asyncio.create_task(waker._told(executor, disputes, {}))
        await asyncio.sleep(0)
        telling.cancel()
        with suppress(asyncio.CancelledError):
            await telling
        gc.collect()
    assert executor.wanting == set()
    assert [str(warning.message) for warning in warned] == []
