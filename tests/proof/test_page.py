"""docs/proof.md says what the code does: its checks, its packs, its fields, its claims."""

import re
from pathlib import Path
from typing import get_args

import pytest

from domain.disputes import Claim
from domain.registry import GAMES
from domain.verify import verify
from tests.proof.logs import SAMPLES, sample
from tests.proof.test_receipts import RECEIPT

PAGE = (Path(__file__).parents[2] / "docs" / "proof.md").read_text(encoding="utf-8")


def test_every_check_is_on_the_page() -> None:
    log = sample(SAMPLES[0])
    for check in {c.check for c in verify(log, [RECEIPT]).checks}:
        assert f"`{check}`" in PAGE


@pytest.mark.parametrize("game", list(GAMES))
def test_the_pack_of_every_game_is_on_the_page(game: str) -> None:
    """Suits and ranks in canonical order, as the shuffle lays them out."""
    [row] = re.findall(rf"^\| `{game}` \| (.*) \|$", PAGE, re.MULTILINE)
    pack = GAMES[game].pack
    text = row
    if "the 52 French cards" in row:
        [text] = re.findall(r"^\| `lodam` \| (.*) \|$", PAGE, re.MULTILINE)
    suits, ranks = [found.replace(" ", "") for found in re.findall(r"`([^`]{3,})`", text)]
    cards = [rank + suit for suit in suits for rank in ranks]
    assert [*cards, *(["XX"] if "then the joker `XX`" in row else [])] == list(pack.cards)


def test_every_kind_of_claim_is_on_the_page() -> None:
    for claim in get_args(Claim):
        assert f"| `{claim}` |" in PAGE or claim == "chain"
