"""How facts are kept: streams of typed bytes in Postgres, and no word of cards.

Start at `records` (what goes in and comes out) and `postgres` (the store); `pool` and `wire` carry
its statements, which `queries` reads from `sql/`. `migrate` makes the schema. `embedded` runs a
Postgres of our own, on `cluster` (its data folder) and `programs` (its binaries and account).
"""
