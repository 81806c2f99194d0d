"""Faults of what the data lies on: a disk that is full, and a dump restored elsewhere."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Final

import msgspec

from faults.history import History
from faults.postgres import Server
from faults.run import Run, Skipped

DISK_MEGABYTES: Final = 400
FULL_SECONDS: Final = 8.0
"""Longer than a process waits for Postgres."""


async def disk_full(run: Run) -> None:
    """The file system under Postgres (a small tmpfs) is filled to the last block while people play,
    twice; then there is room again."""
    with small_disk(run.folder / "disk") as disk:
        run.move(disk / "data")
        async with run.serving({}, {}) as processes:
            run.server.log_states()
            async with run.playing(processes):
                for _ in range(2):
                    await run.acted(0.3)
                    run.note("bytes of ballast", _fill(disk / "ballast"))
                    await asyncio.sleep(FULL_SECONDS)
                    _fill(disk / "ballast more")
                    (disk / "ballast").unlink()
                    (disk / "ballast more").unlink()
                    run.note("times full", 1)
                    await run.live_again(processes, "there is room again")
                await run.acted(0.3)
        log = (run.server.data / "server.log").read_text(errors="replace")
        # What the server has to say of it may not have found room either.
        refused = log.count("No space left on device") + run.history.counts()["unavailable"]
        run.note("refused for want of room", refused)
        run.must(refused, "nothing met the full disk")
        run.must(run.history.counts()["unavailable"], "no request was answered with 503")
        await run.conclude()


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """A file system of its own of DISK_MEGABYTES while the block lasts. Raises Skipped."""
    place.mkdir()
    options = f"size={DISK_MEGABYTES}m,mode=0711"
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode != 0:
        raise Skipped(f"a small file system cannot be mounted: {mounted.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


def _fill(path: Path) -> int:
    """Write a file until there is no room; its size."""
    size = 0
    piece = bytes(1 << 20)
    with path.open("wb", buffering=0) as file:
        while piece:
            try:
                size += file.write(piece)
            except OSError:
                piece = piece[: len(piece) // 2]
        os.fsync(file.fileno())
    return size


async def dump_restored(run: Run) -> None:
    """pg_dump in the middle of play, restored into another cluster: what had been acknowledged
    before it began is there, its feed goes on, and so does play."""
    async with run.serving({}, {}) as processes, run.playing(processes) as caller:
        await run.acted(0.4)
        begun = monotonic()
        dump = run.folder / "dump"
        await asyncio.to_thread(
            _call, run.server, "pg_dump", "-Fc", "-f", str(dump), run.server.url
        )
        ended = monotonic()
        run.must(run.history.done, "nothing had been acknowledged before the dump")
        await run.acted(0.2)
        games = caller.games()
    await run.conclude()
    run.note("bytes dumped", dump.stat().st_size)

    folder = run.folder / "elsewhere"
    folder.mkdir(mode=0o711)
    for kept in ("secret", "signing.keys"):
        shutil.copy(run.server.folder / kept, folder)
    run.move(folder)
    run.history = known_before(run.history, begun, ended)
    with run.database() as url:
        restore = ("pg_restore", "--exit-on-error", "-d", url, str(dump))
        await asyncio.to_thread(_call, run.server, *restore)
    run.tell("restored elsewhere")
    async with run.serving({}, {}) as processes, run.playing(processes, games=games):
        await run.acted(0.3)
        await run.live_again(processes, "a dump was restored")
    await run.conclude()


def _call(server: Server, program: str, *arguments: str) -> None:
    path = server.cluster.programs.folder / program
    subprocess.run([str(path), *arguments], check=True, capture_output=True, text=True)


def known_before(history: History, moment: float, ended: float) -> History:
    """What callers knew of a copy that is of some instant between two: what was acknowledged after
    the first is unknown now, and what was asked after the second was never asked."""
    commands = []
    for command in history.commands:
        if command.asked >= ended:
            continue
        attempts = [
            attempt
            if attempt.ended is not None and attempt.ended < moment
            else msgspec.structs.replace(
                attempt, status=None, body=msgspec.Raw(b"null"), final=False, replayed=False
            )
            for attempt in command.attempts
            if attempt.asked < ended
        ]
        commands.append(msgspec.structs.replace(command, attempts=attempts))
    readings = [
        reading
        for reading in history.readings
        if reading.attempt.ended is not None and reading.attempt.ended < moment
    ]
    done = len([command for command in commands if command.acknowledged])
    return History(commands, readings, done)
