"""Who deals, cuts, is dealt first and leads; the order of contracts (lorum, *Cards, deal,
direction*)."""

import pytest

from domain.actions import Cut, CutChoice, CutRange, Deal
from domain.hand import HandDealt, HandStarted
from domain.lorum import LORUM
from domain.lorum.contracts import CONTRACTS, contract_of
from domain.lorum.events import ContractAnnounced
from domain.lorum.options import LorumOptions
from domain.lorum.state import initial
from tests.builders import GAME_ID, new_game
from tests.domain import second_opinion
from tests.domain.lorum.words import happened, lorum, of_tricks, tricks, won_by
from tests.spec import KEY, Given

NAMES = ["hearts", "obers", "no_tricks", "quads", "fast_train", "hairy_monkey", "lorum"]


def started(story: Given) -> HandStarted:
    (event,) = happened(story, HandStarted)
    return event


def schedule(first_contract: int) -> list[tuple[int, str]]:
    """Dealer and contract of each of 28 rounds, the first dealer being seat 1."""
    state = initial(LorumOptions(first_contract=first_contract), 4)
    found: list[tuple[int, str]] = []
    dealer = 1
    for hand in range(1, 29):
        found.append((dealer, contract_of(hand, first_contract).name))
        state.hand = hand
        dealer = LORUM.next_dealer(state, dealer)
    return found


def test_the_seven_contracts_have_their_names_and_order() -> None:
    """lorum: hearts, Obers, no tricks, quads, fast train, hairy monkey, lorum."""
    assert [contract.name for contract in CONTRACTS] == NAMES


def test_the_first_dealer_is_drawn_by_lot() -> None:
    """lorum, Cards, deal, direction; common, The deal: from the first hand's seed."""
    story = new_game("lorum", 4)
    event = started(story)
    assert event.seed is not None
    seed = bytes.fromhex(event.seed.server_seed)
    assert event.by_lot
    assert event.dealer == second_opinion.lot(seed, GAME_ID, 4)


@pytest.mark.parametrize("dealer", range(4))
def test_the_deal_goes_to_the_right_and_the_left_cuts(dealer: int) -> None:
    """lorum, Cards, deal, direction: the player on the dealer's right is dealt first and starts;
    the player on the left cuts."""
    story = new_game("lorum", 4, first_dealer=dealer, cut="manual", deal="manual")
    event = started(story)
    right = [(dealer - 1) % 4, (dealer - 2) % 4, (dealer - 3) % 4, dealer]
    left = (dealer + 1) % 4
    assert (event.dealer, list(event.seats), event.cutter) == (dealer, right, left)
    assert story.to_act == (left,)
    assert story.legal(left) == [CutChoice(at=CutRange(1, 31))]
    story.when(dealer, Cut(at=5)).refused("common.cutter")
    story.when(left, Cut(at=32)).refused("common.cut-range")
    story = story.after((left, Cut(at=31)))
    assert story.to_act == (dealer,)
    story.when(left, Deal()).refused("common.dealer")
    assert story.after((dealer, Deal())).to_act == (right[0],)


def test_each_gets_eight_cards_one_at_a_time() -> None:
    """lorum, Cards, deal, direction: the German pack, dealt to the right, no stock; computed again
    by code that shares nothing."""
    story = new_game("lorum", 4, first_dealer=0, cut="manual")
    seed = started(story).seed
    assert seed is not None
    story = story.after((1, Cut(at=7, nonce="n"))).served()
    (event,) = happened(story, HandDealt)
    pack = second_opinion.shuffled(
        bytes.fromhex(seed.server_seed), GAME_ID, 1, "n", second_opinion.GERMAN
    )
    hands, stock = second_opinion.dealt(second_opinion.cut(pack, 7), [3, 2, 1, 0], 8)
    assert {seat: list(part.cards) for seat, part in event.hands.items() if part} == hands
    assert (event.counts, event.stock, stock) == ((8, 8, 8, 8), 0, [])


def test_the_contract_is_announced_as_the_round_starts() -> None:
    """lorum: in the same step, before the cut."""
    story = new_game("lorum", 4, cut="manual")
    assert story.events[-1] == ContractAnnounced(1, "hearts")
    assert story.view().table.contract == "hearts"


def test_a_dealer_deals_seven_rounds_then_the_player_on_the_right() -> None:
    """lorum, Cards, deal, direction: contracts 1 to 7 in order, then seat-1."""
    dealers = [1] * 7 + [0] * 7 + [3] * 7 + [2] * 7
    assert schedule(1) == list(zip(dealers, NAMES * 4, strict=True))


@pytest.mark.parametrize("first", range(1, 8))
def test_first_contract_shifts_the_schedule(first: int) -> None:
    """lorum, End, option `first_contract`: the first dealer deals from it to 7, the next dealers 1
    to 7, and after four dealers it comes round to the first again."""
    own = 8 - first
    dealers = ([1] * own + [0] * 7 + [3] * 7 + [2] * 7 + [1] * 7)[:28]
    contracts = NAMES[first - 1 :] + NAMES * 4
    assert schedule(first) == list(zip(dealers, contracts, strict=False))


def test_the_next_round_starts_in_the_same_step() -> None:
    """common, Actions: no pause; the same dealer deals the next contract, its right starts."""
    played = won_by(0, 0, 0, 0, 1, 1, 0, 0)
    story = of_tricks("hearts", *played, leader=2)
    story = tricks(story, *played[:6])
    assert story.kinds()[-3:] == ["SeedRevealed", "HandStarted", "ContractAnnounced"]
    assert started(story).dealer == 3
    assert started(story).seats[0] == 2
    assert happened(story, ContractAnnounced) == [ContractAnnounced(2, "obers")]
    assert story.served().to_act == (2,)


def test_play_goes_to_the_right() -> None:
    """lorum, Cards, deal, direction."""
    story = lorum("no_tricks", "7A 8A", "9A", "TA", "UA", leader=1)
    order = []
    for card in ("9A", "7A", "UA", "TA"):
        order.append(story.to_act[0])
        story = story.plays(card)
    assert order == [1, 0, 3, 2]


def test_the_first_hand_is_seeded_as_ever() -> None:
    """common, The deal, option `seed`: the same seed and deal_id deal the same."""
    one = new_game("lorum", 4, key=KEY, deal_id="match", seeded=True).served()
    other = new_game("lorum", 4, key=KEY, deal_id="match", seeded=True).served()
    assert one.events == other.events
