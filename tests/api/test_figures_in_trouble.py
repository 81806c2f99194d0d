"""`/metrics` while the database does not answer: what the process knows, at once, and no more."""

import asyncio
import math

from tests.api.running import HOST, running
from tests.api.test_figures import figures
from tests.eventstore.wire_trouble import line_to

LONG_SECONDS = 60.0
"""A limit that only a hanging test reaches."""
DEADLINE_SECONDS = 600.0
"""How long the database may take: nobody who scrapes waits for that."""

OF_TABLES = ("feed_unstamped", "webhook_pending", "webhook_pending_seconds")


async def test_a_scrape_does_not_wait_for_a_database_that_hangs(database_url: str) -> None:
    async with (
        line_to(database_url) as (line, url),
        running(url, database_deadline_seconds=DEADLINE_SECONDS) as api,
        asyncio.timeout(LONG_SECONDS),
    ):
        assert (await api.get("/v1/games", headers=HOST)).status_code == 200
        now = await figures(api)
        assert now["fairdeal_database_up"] == 1
        assert not any(math.isnan(now[f"fairdeal_{name}"]) for name in OF_TABLES)
        projections = [name for name in now if name.startswith("fairdeal_projection_lag_events{")]
        assert projections
        line.silent = True
        served = 'fairdeal_requests_total{method="GET",path="/v1/games",status_code="200"}'
        # One after the other, then several at once: nobody waits for the look of another either.
        told = [await figures(api) for _ in range(2)]
        told += await asyncio.gather(*[figures(api) for _ in range(3)])
        for figure in told:
            assert figure["fairdeal_database_up"] == 0
            for name in (*(f"fairdeal_{name}" for name in OF_TABLES), *projections):
                assert math.isnan(figure[name]), name
            assert figure["fairdeal_workers"] == 1
            assert figure[served] == now[served]
        line.silent = False
        line.hang_up()
        while math.isnan((await figures(api))["fairdeal_webhook_pending_seconds"]):
            await asyncio.sleep(0.05)
        now = await figures(api)
        assert now["fairdeal_database_up"] == 1
        assert not any(math.isnan(now[f"fairdeal_{name}"]) for name in OF_TABLES)
