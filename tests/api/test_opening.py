"""`fairdeal serve --open`: a browser is opened for who sits there, and nobody else gets the key."""

import os
import pty
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from api.opening import lead, obstacle
from tests.api.processes import free_port, serving
from tests.api.running import HOST_KEY, SECRET, SIGNING_KEYS
from tests.database import open_folder

BROWSER = """#!/bin/sh
# Stands for a browser: keeps what it was started with and what it was led to.
cp "$(printf '%s' "$1" | sed 's|^file://||')" "$0.page"
ls -l "$(printf '%s' "$1" | sed 's|^file://||')" > "$0.mode"
printf '%s' "$1" > "$0.told"
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder("fairdeal-open-test-") as found:
        yield found


def environment(database_url: str, folder: Path) -> dict[str, str]:
    browser = folder / "browser"
    browser.write_text(BROWSER)
    browser.chmod(0o755)
    return {
        "FAIRDEAL_DATABASE_URL": database_url,
        "FAIRDEAL_HOST_KEYS": f"first:{HOST_KEY},second:another-key",
        "FAIRDEAL_SECRET": SECRET,
        "FAIRDEAL_SIGNING_KEYS": SIGNING_KEYS,
        "BROWSER": str(browser),
    }


@pytest.mark.postgres
def test_the_browser_gets_the_key_by_a_file_of_ours(database_url: str, folder: Path) -> None:
    terminal, output = pty.openpty()
    try:
        surroundings = environment(database_url, folder)
        with serving(free_port(), "--open", stdout=output, **surroundings) as server:
            told = folder / "browser.told"
            end = time.monotonic() + 30
            while not told.exists() and time.monotonic() < end:
                time.sleep(0.05)
            opened = Path(unquote(urlsplit(told.read_text()).path))
            assert HOST_KEY not in told.read_text()
            page = (folder / "browser.page").read_text()
            assert f"{server.address}/#key={HOST_KEY}" in page
            assert (folder / "browser.mode").read_text().startswith("-rw-------")
            server.end()
            assert not opened.exists()
    finally:
        os.close(terminal)
        os.close(output)


@pytest.mark.postgres
def test_where_nobody_sits_none_is_opened(database_url: str, folder: Path) -> None:
    with serving(free_port(), "--open", **environment(database_url, folder)) as server:
        code, out, err = server.end()
    assert (code, err) == (0, "")
    assert "No browser is opened: nobody sits at this output." in out
    assert not (folder / "browser.told").exists()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "example.org", "::"])
def test_a_server_for_others_opens_none(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert obstacle(host) == f"{host} is not for this machine alone"
    assert obstacle("127.0.0.1") is None
    assert obstacle("::1") is None
    assert obstacle("localhost") is None


def test_a_key_with_signs_of_its_own_is_led_there_whole(tmp_path: Path) -> None:
    path = lead(tmp_path, "http://127.0.0.1:8000", 'a&b="c"#d')
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "/#key=a%26b%3D%22c%22%23d" in path.read_text()
