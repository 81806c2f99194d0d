"""`python -m api` is `fairdeal`."""

from api.cli import main

main()
