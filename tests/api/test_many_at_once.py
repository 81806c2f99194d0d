"""Many requests at once, in one process and in two: the rules decide, one after another."""

import asyncio
from collections import Counter
from random import Random

from tests.api.running import Game, filled_in, new_game, running


async def test_of_a_hand_of_cards_played_at_once_one_is_played(database_url: str) -> None:
    async with running(database_url) as one, running(database_url) as two:
        game = await new_game(one, rules={"trading": "off"})
        there = Game(two, game.created)
        seat = (await game.view())["to_act"][0]
        cards = (await game.view(seat))["private"]["cards"]
        answers = await asyncio.gather(
            *[
                where.act(seat, {"type": "play", "card": card})
                for card in cards
                for where in (game, there)
            ]
        )
        assert Counter(answer.status_code for answer in answers) == {201: 1, 409: 33}
        rules = {answer.json().get("rule") for answer in answers if answer.status_code == 409}
        assert rules <= {"lodam.turn", "lodam.not-in-hand"}
        assert len((await game.view())["table"]["trick"]) == 1


async def test_all_may_pass_at_once(game: Game) -> None:
    answers = await asyncio.gather(*[game.act(seat, {"type": "pass"}) for seat in range(3)])
    assert {answer.status_code for answer in answers} == {201}
    assert (await game.view())["hand"]["phase"] == "playing"


async def test_fifty_different_requests_of_one_seat_act_as_often_as_is_legal(game: Game) -> None:
    answers = await asyncio.gather(
        *[game.act(0, {"type": "pass"}, Idempotency_Key=f"k{n}") for n in range(50)]
    )
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: 49}


async def test_two_processes_play_one_game_together(database_url: str) -> None:
    chance = Random(6)
    async with running(database_url) as one, running(database_url) as two:
        game = await new_game(one, people=2, bots=("careful", "random"), rules={"lives": 1})
        places = (game, Game(two, game.created))
        while True:
            view = await chance.choice(places).view()
            if view["status"] != "playing":
                break
            seat = chance.choice(view["to_act"])
            own = await chance.choice(places).view(seat)
            assert own["version"] == view["version"]
            action = filled_in(chance.choice(own["actions"]), chance)
            answers = await asyncio.gather(*[where.act(seat, action) for where in places])
            assert sorted(a.status_code for a in answers)[0] == 201
        first, second = [await where.events() for where in places]
        assert first == second
        assert [await where.view(0) for where in places] == [await game.view(0)] * 2
