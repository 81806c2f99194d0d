"""`fairdeal`, which `python -m api` is too: the command line, which Ctrl-C ends without a word from
the first moment on."""

import sys


def main() -> None:
    """The entry point."""
    try:
        # Loaded here: it takes so long that somebody may think better of it.
        from api import cli

        cli.main()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
