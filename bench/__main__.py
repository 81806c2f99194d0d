"""`python -m bench NAME`: run one measurement and print its table."""

import sys
from collections.abc import Callable

from bench import careful, feed, live, playouts, rebuild, rest

MEASUREMENTS: dict[str, Callable[[], None]] = {
    "careful": careful.main,
    "feed": feed.main,
    "live": live.main,
    "playouts": playouts.main,
    "rebuild": rebuild.main,
    "rest": rest.main,
}


def main() -> None:
    """Run the measurement named on the command line."""
    if len(sys.argv) != 2 or sys.argv[1] not in MEASUREMENTS:
        sys.exit(f"usage: python -m bench {'|'.join(MEASUREMENTS)}")
    MEASUREMENTS[sys.argv[1]]()


main()
