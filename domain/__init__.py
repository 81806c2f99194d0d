"""The games as pure functions: no clock, no chance, no input or output. Start at `game.py`.

Bottom to top, each file using only those before it:
`cards` packs and their notation · `seats` turn order · `shuffle` the provably fair deal ·
`visibility` who may see what · `events` facts with sealed fields · `actions` what every game asks ·
`game` the contract that a game fulfils · `hand` the facts that start, deal and open a hand ·
`tricks`, `ledger` mechanics that games share · `lodam`, `lorum`, `loc` the games · `registry` the
list of them · `table` the life around a game (seats, tokens, hands, the end) · `codec` bytes in and
out · `log` digests, the hash chain and what a viewer gets of it · `base64url`, `receipts`, `export`
the log signed and as a file · `rederive` the recorded actions through the rules again · `verify`
every check of a file · `explain`, `disputes` why an event followed, and what a log says of a claim.
"""
