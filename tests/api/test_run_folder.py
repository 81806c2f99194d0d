"""The folders of runs: gone with their process, and those of killed ones with the next start."""

import fcntl
import os
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest

from api import run_folder
from api.run_folder import RunFolder, remove_abandoned
from tests.api.processes import free_port, serving
from tests.api.test_live_served import environment


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Where temporary folders are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_lasts_as_long_as_its_process(place: Path) -> None:
    one, two = RunFolder(), RunFolder()
    (two.path / "metrics").mkdir()
    remove_abandoned()
    assert set(place.iterdir()) == {one.path, two.path}
    assert one.path.stat().st_mode & 0o077 == 0
    two.remove()
    assert list(place.iterdir()) == [one.path]
    one.remove()
    assert list(place.iterdir()) == []


def test_what_is_no_abandoned_folder_of_ours_stays(place: Path) -> None:
    kept = {place / name for name in ("fairdeal-run-a", "fairdeal-run-b", "fairdeal-other")}
    (place / "fairdeal-other" / "x").mkdir(parents=True)
    (place / "fairdeal-run-a").symlink_to(place / "fairdeal-other")
    (place / "fairdeal-run-b").write_text("")
    if os.geteuid() == 0:
        (place / "fairdeal-run-c").mkdir()
        os.chown(place / "fairdeal-run-c", 10001, 10001)
        kept.add(place / "fairdeal-run-c")
    (place / "fairdeal-run-d" / "metrics").mkdir(parents=True)
    remove_abandoned()
    assert set(place.iterdir()) == kept
    assert (place / "fairdeal-other" / "x").exists()


@pytest.mark.parametrize(("where", "name"), [(run_folder, "_locked"), (fcntl, "flock")])
def test_a_folder_that_another_start_takes_for_abandoned_is_made_again(
    place: Path, monkeypatch: pytest.MonkeyPatch, where: Any, name: str
) -> None:
    """The other comes before this one looks, or before it locks what it has opened."""
    came = []
    found = getattr(where, name)

    def late(*arguments: Any) -> Any:
        if not came:
            came.append(True)
            remove_abandoned()
            assert list(place.iterdir()) == []
        return found(*arguments)

    monkeypatch.setattr(where, name, late)
    folder = RunFolder()
    assert came
    assert list(place.iterdir()) == [folder.path]
    folder.remove()


@pytest.mark.postgres
def test_what_a_killed_server_leaves_goes_with_the_next_start(
    database_url: str, tmp_path: Path
) -> None:
    settings = environment(database_url, TMPDIR=str(tmp_path))
    with serving(free_port(), **settings) as server:
        [left] = tmp_path.glob("fairdeal-run-*")
        server.process.send_signal(signal.SIGKILL)
        server.process.communicate()
        server.wait_gone()
    with serving(free_port(), **settings) as server:
        [found] = tmp_path.glob("fairdeal-run-*")
        assert found != left
        assert server.end()[0] == 0
    assert list(tmp_path.glob("fairdeal-run-*")) == []
