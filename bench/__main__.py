"""`python -m bench NAME`: run one measurement and print its table."""

import sys
from collections.abc import Callable

from bench import careful, live, playouts, rest

MEASUREMENTS: dict[str, Callable[[], None]] = {
    "careful": careful.main,
    "live": live.main,
    "playouts": playouts.main,
    "rest": rest.main,
}


def main() -> None:
    """Run the measurement named on the command line."""
    if len(sys.argv) != 2 or sys.argv[1] not in MEASUREMENTS:
        sys.exit(f"usage: python -m bench {'|'.join(MEASUREMENTS)}")
    MEASUREMENTS[sys.argv[1]]()


main()
