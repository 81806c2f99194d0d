"""Why an event followed: command, versions and sections of the rulebook, in words; and that a
forged one did not."""

import re
from pathlib import Path

import msgspec
import pytest

from domain.codec import EVENT_TYPES
from domain.events import Event
from domain.explain import explain
from domain.registry import GAMES
from domain.table.events import CITES
from tests.proof.logs import (
    changed,
    each_sample,
    named,
    of_type,
    put,
    rechained,
    sample,
)
from tests.proof.played import exported, recorded
from tests.seeds.record import SEEDS

LOG = named("trades-swallow-challenges")


def sections(book: str) -> set[str]:
    """The numbered sections of a rulebook."""
    text = (SEEDS / book / "rulebook.md").read_text(encoding="utf-8")
    return set(re.findall(r"^(\d+\.\d+) ", text, re.MULTILINE))


ALL_CITES: list[tuple[type[Event], str]] = [
    *CITES.items(),
    *[item for game in GAMES.values() for item in game.cites.items()],
]


@pytest.mark.parametrize(("kind", "cites"), ALL_CITES, ids=[f"{k.__name__}" for k, _ in ALL_CITES])
def test_a_citation_names_a_section_that_exists(kind: type[Event], cites: str) -> None:
    book, _, named_there = cites.partition(" ")
    assert named_there
    assert set(named_there.split(", ")) <= sections(book)


@pytest.mark.parametrize("game", list(GAMES))
def test_every_type_of_event_cites_its_rule(game: str) -> None:
    assert set(GAMES[game].cites) == set(GAMES[game].events) - set(CITES)
    assert set(CITES) == set(EVENT_TYPES.values()) - {k for g in GAMES.values() for k in g.cites}


@each_sample
def test_an_event_of_every_type_is_explained(path: Path) -> None:
    log = sample(path)
    for entry in {entry.type: entry for entry in log.entries}.values():
        said = explain(log.header.id, log.entries, entry.version)
        first, last = said.versions
        action = msgspec.json.decode(log.entries[first - 1].data)["action"]
        assert said.follows is True, said.text
        assert said.type == entry.type
        assert first <= entry.version <= last
        assert len({e.command for e in log.entries[first - 1 : last]}) == 1
        assert said.text.startswith(f"Version {entry.version}, {entry.type}: ")
        assert f"versions {first} to {last}, `{action['type']}` by " in said.text
        assert said.text.endswith(f"Rulebook: {', '.join(said.cites)}.")
        for cite in said.cites:
            book, _, section = cite.partition(" ")
            assert section in sections(book)


def test_the_words_of_an_explanation() -> None:
    version = of_type(LOG.entries, "CardPlayed")[1].version
    said = explain(LOG.header.id, LOG.entries, version)
    assert said.cites == ("lodam 4.1",)
    assert re.fullmatch(
        rf"Version {version}, CardPlayed: part of the command of versions \d+ to \d+, `play` by "
        rf"seat \d\. At version {version - 1} seat \d might play ..(, play ..)*; for play .. the "
        r"rules give exactly this event\. Rulebook: lodam 4\.1\.",
        said.text,
    )
    seed = of_type(LOG.entries, "SeedRevealed")[0].version
    assert explain(LOG.header.id, LOG.entries, seed).cites == ("common 2.5", "common 3.2")


def test_a_forged_event_does_not_follow() -> None:
    taken = of_type(LOG.entries, "TrickTaken")[6]
    forged = changed(taken, lambda data: data.update(seat=(data["seat"] + 1) % 5))
    entries = rechained(LOG.header.id, put(LOG.entries, forged))
    said = explain(LOG.header.id, entries, taken.version)
    assert said.follows is False
    assert "the rules give" in said.text
    before = explain(LOG.header.id, entries, taken.version - 1)
    assert before.follows is True


def test_an_action_that_the_rules_refuse_explains_none_of_its_events() -> None:
    scored = of_type(LOG.entries, "HandScored")[0]
    group = [entry for entry in LOG.entries if entry.command == scored.command]
    assert len(group) > 2
    first = changed(group[0], lambda data: data["action"].update(type="see_trump"))
    entries = rechained(LOG.header.id, put(LOG.entries, first))
    for entry in group:
        said = explain(LOG.header.id, entries, entry.version)
        assert said.follows is False
        assert "lodam.phase" in said.text


def test_an_event_after_one_that_no_game_can_follow() -> None:
    dealt = of_type(LOG.entries, "HandDealt")[0]
    forged = changed(dealt, lambda data: data.update(counts=["x"]))
    entries = rechained(LOG.header.id, put(LOG.entries, forged))
    said = explain(LOG.header.id, entries, dealt.version + 1)
    assert said.follows is False
    assert "cannot be followed" in said.text
    unknown = msgspec.structs.replace(dealt, type="Sneezed")
    said = explain(LOG.header.id, put(LOG.entries, unknown), dealt.version)
    assert (said.follows, said.cites) == (False, ())


def test_while_a_hand_is_sealed_its_events_cannot_be_explained_yet() -> None:
    game = recorded("lodam", 5)
    dealt = next(i for i, table in enumerate(game.tables, 1) if table.dealt)
    log = exported(game, None, dealt)
    said = explain(log.header.id, log.entries, len(log.entries))
    assert said.follows is None
    assert "It cannot be derived yet: the hand is still sealed." in said.text
    assert explain(log.header.id, log.entries, 1).follows is True


def test_a_version_that_the_log_does_not_have() -> None:
    for version in (0, -1, len(LOG.entries) + 1):
        with pytest.raises(KeyError):
            explain(LOG.header.id, LOG.entries, version)
