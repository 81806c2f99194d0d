"""`/metrics` of a service that has counted nothing yet: what alerts are about is there, with 0."""

import re
from pathlib import Path

import httpx

from projections.registry import PROJECTIONS
from tests.api.processes import free_port, serving

KNOWN = {
    'fairdeal_appends_total{outcome="%s"}': (
        "appended",
        "wrong-version",
        "replayed",
        "mismatch",
        "unavailable",
        "failed",
    ),
    'fairdeal_database_errors_total{sqlstate_class="%s"}': ("none", "08", "40", "42", "53", "57"),
    'fairdeal_rate_limited_total{by="%s"}': ("token", "host", "address"),
    'fairdeal_webhook_deliveries_total{outcome="%s"}': (
        "delivered",
        "retried",
        "failed",
        "outdated",
    ),
    'fairdeal_projection_errors_total{projection="%s"}': tuple(PROJECTIONS),
    'fairdeal_projection_applied_total{projection="%s"}': tuple(PROJECTIONS),
}
ROUTES = (
    ("GET", "/v1/games/{game_id}"),
    ("POST", "/v1/games/{game_id}/actions"),
    ("DELETE", "/v1/players/{ref}"),
)


def test_what_has_not_happened_yet_is_counted_as_nought(database_url: str, tmp_path: Path) -> None:
    where = {"FAIRDEAL_DATABASE_URL": database_url, "FAIRDEAL_DATA_DIR": str(tmp_path)}
    with serving(free_port(), "--workers", "2", **where) as server:
        text = httpx.get(f"{server.address}/metrics").text
    rows = dict(re.findall(r"^(fairdeal_\S+) (\S+)$", text, re.M))
    wanted = {series % value for series, values in KNOWN.items() for value in values}
    for method, path in ROUTES:
        for status in (500, 503):
            labels = f'method="{method}",path="{path}",status_code="{status}"'
            wanted.add(f"fairdeal_requests_total{{{labels}}}")
    assert wanted - rows.keys() == set()
    # The trouble of starting may have been counted; nothing else has happened.
    busy = [name for name in wanted if float(rows[name]) and "database_errors" not in name]
    assert busy == []
    # Nobody asks by OPTIONS, so it has no rows of its own.
    assert 'method="OPTIONS"' not in text
