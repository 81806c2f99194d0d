"""`fairdeal serve --open`: the table in the browser of whoever sits at this machine, as the host.

The host key reaches the browser in the fragment of an address, which no browser sends, by a file
that this account alone can read: a command line can be read by everyone on the machine.
"""

import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import httpx

_READY_SECONDS: Final = 60
"""How long to wait for the server before its page is opened."""

_LEADING_THERE: Final = """<!doctype html><meta charset="utf-8"><title>Fairdeal</title>
<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url={}">
<p>The table opens.</p>
"""


def obstacle(host: str) -> str | None:
    """Why no browser is to be opened, or None where someone sits here and the server is local."""
    if not sys.stdout.isatty():
        return "nobody sits at this output"
    if not _is_this_machine(host):
        return f"{host} is not for this machine alone"
    return None


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def lead(folder: Path, address: str, key: str) -> Path:
    """A file in `folder`, readable by its owner alone, that leads a browser to the table with the
    host key in the fragment."""
    path = folder / "table.html"
    path.touch(mode=0o600)
    target = f"{address}/#{urlencode({'key': key})}"
    path.write_text(_LEADING_THERE.format(escape(target)), encoding="utf-8")
    return path


@contextmanager
def opened(address: str, key: str) -> Iterator[None]:
    """Open the table in a browser as soon as the server answers; the file that leads there is gone
    when the block ends."""
    with tempfile.TemporaryDirectory(prefix="fairdeal-open-") as folder:
        page = lead(Path(folder), address, key).as_uri()
        threading.Thread(target=_open_when_ready, args=(address, page), daemon=True).start()
        yield


def _open_when_ready(address: str, page: str) -> None:
    end = time.monotonic() + _READY_SECONDS
    while time.monotonic() < end:
        try:
            if httpx.get(f"{address}/health/live", timeout=5).is_success:
                webbrowser.open(page)
                return
        except httpx.TransportError:
            time.sleep(0.1)
