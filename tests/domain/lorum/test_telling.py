"""How rounds are told in a replay."""

import random

from domain.events import Event, layout
from domain.hand import HandStarted
from domain.lorum.narrate import narrate
from domain.lorum.rules import PACK
from domain.registry import GAMES
from domain.replay import replay, transcript
from domain.telling import HandTold, Telling
from tests.domain.lorum.words import lorum, of_tricks, tricks, won_by
from tests.seeds.games import play as played_game
from tests.spec import Given


def told(story: Given) -> HandTold:
    """The first round, told from the events of the last command after the plays before it."""
    telling = Telling(PACK, ["Anna", "Balázs", "Csilla", "Dénes"])
    telling.hands.append(HandTold(1, 1, False, ""))
    telling.hand.contract = story.table.play.history[0].contract
    before = story.table.play.previous
    last = story.events[0]
    for shown in before.trick:
        if shown.card != getattr(last, "card", None):
            telling.play(shown.seat, shown.card)
    for version, event in enumerate(story.events):
        if isinstance(event, HandStarted):
            break
        narrate(telling, event, version)
    return telling.hand


def texts(story: Given) -> list[str]:
    return [moment.text for moment in told(story).moments]


def test_the_takers_and_the_others() -> None:
    """lorum, Trick contracts: who pays whom."""
    four = won_by(0, 0, 1, 1, 2, 2, 3, 3)
    story = tricks(of_tricks("no_tricks", *four), *four)
    assert texts(story) == ["All four pay what they took into the pot", "The pot stands at 8"]
    three = won_by(0, 0, 1, 1, 2, 2, 2, 2)
    story = tricks(of_tricks("no_tricks", *three), *three)
    assert texts(story) == ["Anna, Balázs and Csilla pay what they took, to Dénes"]
    two = won_by(*[0, 3] * 4)
    story = tricks(of_tricks("no_tricks", *two), *two)
    assert texts(story) == ["Anna and Dénes pay what they took, to Balázs and Csilla"]
    one = won_by(*[2] * 8)
    story = tricks(of_tricks("no_tricks", *one), *one)
    assert texts(story) == ["Csilla took it all and wins: each of the others pays 8"]


def test_the_hairy_monkey() -> None:
    """lorum, Trick contracts, 6."""
    played = won_by(0, 1, 2, 3, 1, 0, 0, 0)
    story = tricks(of_tricks("hairy_monkey", *played), *played[:5])
    assert texts(story) == [
        "Balázs has the hairy monkey and pays 10 into the pot",
        "The pot stands at 10",
    ]
    hand = told(story)
    assert [(trick.taker, trick.points) for trick in hand.tricks] == [(1, 10)]
    assert [payment.chips for payment in hand.payments] == [0, -10, 0, 0]


def test_who_goes_out_and_is_paid() -> None:
    """lorum, Shedding contracts."""
    story = lorum("fast_train", "9A", "TA", "UA 7A", "OA").plays("9A")
    assert texts(story) == ["Anna is out of cards: the others pay a chip for each they hold"]
    story = lorum("lorum", "9A TA", "9B", "7A", "7L UB", pot=5).plays("9A").served().plays("9B")
    assert texts(story) == [
        "Balázs is out of cards: the others pay into the pot a chip for each they hold",
        "Balázs takes the pot of 11",
        "passes: Csilla 1, Dénes 1",
    ]
    assert [play.card for play in told(story).tricks[0].plays] == ["9A", "9B"]


def test_a_transcript_reads_like_a_game_of_cards() -> None:
    """A whole game: German suits by name, the contract announced, payments shown."""
    played = played_game("lorum", ("careful", "random") * 2, {"rounds": 7}, random.Random(4))
    table = played.table
    lines = transcript(replay(table, played.entries, None, table.openings), table).splitlines()
    assert lines[0] == "Lorum: Anna, Balázs, Csilla, Dénes"
    heads = [line for line in lines if line.startswith("Hand ")]
    assert [head.split(":")[1].split(",")[0] for head in heads] == [
        " hearts",
        " obers",
        " no tricks",
        " quads",
        " fast train",
        " hairy monkey",
        " lorum",
    ]
    text = "\n".join(lines)
    for words in (
        "every heart taken costs a chip",
        "the king of hearts costs 10",
        "Ober of acorns",
        "7 of bells",
        "takes the pot of",
        "  chips: ",
        "  passes: ",
    ):
        assert words in text, words


def test_every_card_that_was_played_is_told_once() -> None:
    """No play is lost between the runs and the reckoning."""
    played = played_game("lorum", ("random",) * 4, {"rounds": 7}, random.Random(9))
    table = played.table
    story = replay(table, played.entries, None, table.openings)
    plays = [play.card for hand in story.hands for trick in hand.tricks for play in trick.plays]
    assert len(plays) == sum([entry.type == "CardPlayed" for entry in played.entries])
    assert all(hand.unfinished == [] for hand in story.hands)


def test_every_event_of_lorum_is_public() -> None:
    """lorum: nothing is sealed but the deal; all that happens lies open."""
    kinds: tuple[type[Event], ...] = GAMES["lorum"].events
    own = [kind for kind in kinds if "lorum" in kind.__module__]
    assert own
    assert all(layout(kind).sealed == () for kind in own)
