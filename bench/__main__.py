"""`python -m bench NAME`: run one measurement and print its tables; `all` runs all in turn."""

import sys
from importlib import import_module
from typing import Final

MEASUREMENTS: Final[dict[str, str]] = {
    "store": "durable appends, beside eventsourcing and pgbench",
    "load": "a game of 500 events loaded and folded, beside eventsourcing",
    "fold": "folding alone; decoding, checking the chain and folding",
    "rest": "actions over HTTP, beside a minimal route and boardgame.io",
    "playouts": "whole games by the pure engine, beside RLCard and OpenSpiel",
    "feed": "numbering while 8 writers append, and from commit to projection",
    "rebuild": "every projection from zero over a million events",
    "growth": "a million games by COPY, and how flat latency is then",
    "storage": "bytes an event, table by table",
    "live": "2,000 live streams on one process",
    "start": "cold and warm start, imports, installation",
    "careful": "the careful bots against chance",
}


def main() -> None:
    """Run what the command line names, or say what there is."""
    wanted = sys.argv[1:]
    if len(wanted) == 1 and wanted[0] in (*MEASUREMENTS, "all"):
        for name in MEASUREMENTS if wanted == ["all"] else wanted:
            import_module(f"bench.{name}").main()
        return
    print("usage: python -m bench NAME, where NAME is")
    for name, what in {**MEASUREMENTS, "all": "all of them in turn"}.items():
        print(f"  {name:9} {what}")
    sys.exit(0 if not wanted else 2)


if __name__ == "__main__":
    main()
