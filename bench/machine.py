"""The machine that figures are from, in one line."""

import os
import platform


def described() -> str:
    """System, processor, cores, Python."""
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}"
    )
