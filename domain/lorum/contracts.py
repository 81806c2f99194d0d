"""The seven contracts of Lorum and their order. Knows no cards."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

import msgspec

ContractName = Literal[
    "hearts", "obers", "no_tricks", "quads", "fast_train", "hairy_monkey", "lorum"
]
OnTable = Literal["trick", "run", "layout"]


class Contract(msgspec.Struct, frozen=True):
    """A contract: its name, what lies on the table in it, and how the dealer announces it."""

    name: ContractName
    on_table: OnTable
    words: str


CONTRACTS: Final = (
    Contract("hearts", "trick", "every heart taken costs a chip"),
    Contract("obers", "trick", "the Ober of acorns costs 1, of leaves 2, of bells 3, of hearts 4"),
    Contract("no_tricks", "trick", "every trick taken costs a chip"),
    Contract("quads", "run", "up to four cards of a suit in order"),
    Contract("fast_train", "run", "one rank higher every time, whatever the suit"),
    Contract("hairy_monkey", "trick", "the king of hearts costs 10"),
    Contract("lorum", "layout", "four suits from one rank on, and the winner takes the pot"),
)
"""In the order in which a dealer deals them, numbered from 1 (lorum, *Cards, deal, direction*)."""

BY_NAME: Final[Mapping[ContractName, Contract]] = MappingProxyType({c.name: c for c in CONTRACTS})

TRICK_CONTRACTS: Final = frozenset([c.name for c in CONTRACTS if c.on_table == "trick"])


def contract_of(hand: int, first_contract: int) -> Contract:
    """The contract of a round (numbered from 1): each dealer deals up to the seventh, the next one
    starts at the first (lorum, *End*, option `first_contract`)."""
    return CONTRACTS[(first_contract + hand - 2) % len(CONTRACTS)]
