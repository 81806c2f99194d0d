"""The store on the oldest Postgres it promises to run on, where a container is asked for."""

import os

import pytest

from eventstore.migrate import migrate
from eventstore.postgres import EventStore
from eventstore.records import Appended
from tests.database import container
from tests.eventstore.streams import a_part, an_append, an_event, an_id, stored


@pytest.mark.skipif(
    os.environ.get("FAIRDEAL_TEST_POSTGRES") != "container",
    reason="containers are opt-in: set FAIRDEAL_TEST_POSTGRES=container",
)
@pytest.mark.postgres
async def test_a_postgres_in_a_container_keeps_streams() -> None:
    with container() as url:
        await migrate(url)
        async with EventStore.open(url) as store:
            first = an_append(an_id(), an_event(sealed=(a_part(),)))
            assert await store.append(first) == Appended(1)
            assert await store.read(first.stream) == stored(first)
