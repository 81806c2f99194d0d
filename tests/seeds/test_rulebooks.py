"""Rulebooks and code name the same rules, and every option is explained."""

import re
from pathlib import Path

import msgspec
import pytest

from domain.registry import GAMES
from tests.seeds.record import SEEDS

ROOT = SEEDS.parent
RULE = re.compile(r'"((?:common|' + "|".join(GAMES) + r')\.[a-z0-9-]+)"')


def _rules_in_code() -> set[str]:
    return {
        rule
        for path in (ROOT / "domain").rglob("*.py")
        for rule in RULE.findall(path.read_text(encoding="utf-8"))
    }


def _rulebook(name: str) -> str:
    return (SEEDS / name / "rulebook.md").read_text(encoding="utf-8")


def test_every_rule_that_refuses_is_in_a_rulebook_and_the_other_way_round() -> None:
    books = "".join(_rulebook(name) for name in ("common", *GAMES))
    cited = {
        rule
        for group in re.findall(r"\[([^\]]+)\]", books)
        for rule in re.split(r",\s*", group)
        if "." in rule
    }
    assert cited == _rules_in_code()


@pytest.mark.parametrize("name", GAMES)
def test_a_rulebook_explains_every_option(name: str) -> None:
    book = _rulebook(name)
    for field in msgspec.structs.fields(GAMES[name].options):
        assert f"`{field.encode_name}" in book, field.name


@pytest.mark.parametrize("path", sorted(SEEDS.rglob("*.md")), ids=str)
def test_a_rulebook_keeps_to_its_width(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 110] == []
