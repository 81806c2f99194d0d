"""The machine that figures are from, in one line."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path


def described() -> str:
    """Day, system, processor, cores, memory, Python, and how busy it is."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {platform.system()} {platform.machine()}, {_processor()}, "
        f"{os.cpu_count()} cores, {memory:.0f} GB, Python {platform.python_version()}, "
        f"load {os.getloadavg()[0]:.1f}"
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "processor unknown"
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else "processor unknown"
