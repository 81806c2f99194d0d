"""What the API answers about people across games: their record, and leaderboards."""

import msgspec

from projections import rating
from projections.leaderboards import Ranked
from projections.players import Person


class RatingView(msgspec.Struct, frozen=True):
    """A rating by the Plackett-Luce model: `mu` is the strength that is believed, `sigma` how
    uncertain that is, and `rating` (mu - 3 sigma) what players are ranked by. Everyone begins at 0
    with mu 25."""

    rating: float
    mu: float
    sigma: float


class RecordView(msgspec.Struct, frozen=True):
    """What came of somebody's games of one kind. `chips` are those won less those lost."""

    games: int
    wins: int
    chips: int
    chips_won: int
    chips_lost: int
    lives_lost: int
    rating: RatingView | None


class OpponentView(msgspec.Struct, frozen=True):
    """Whom somebody has met: `wins` counts the games in which they came out above the opponent,
    `draws` those in which both took the same place."""

    ref: str
    name: str
    games: int
    wins: int
    losses: int
    draws: int


class PlayerAnswer(msgspec.Struct, frozen=True):
    """A person across the host's finished games (abandoned ones are not counted): in all, by kind
    of game, and against the opponents met most often. `rating` is by kind of game. `as_of` is the
    log position that the answer holds at the least."""

    ref: str
    name: str
    games: int
    wins: int
    chips: int
    rating: dict[str, RatingView]
    by_game: dict[str, RecordView]
    head_to_head: tuple[OpponentView, ...]
    as_of: int


class LeaderboardItem(msgspec.Struct, frozen=True):
    """A player of a leaderboard. Games, wins, chips and lives lost are those of the window; the
    rating is that of all games. Those of the same rating share a rank (1, 2, 2, 4)."""

    rank: int
    ref: str
    name: str
    rating: float
    mu: float
    sigma: float
    games: int
    wins: int
    chips: int
    lives_lost: int


class LeaderboardPage(msgspec.Struct, frozen=True):
    """A page of a leaderboard, best first; `next` is the cursor of the next page, null at the end.
    `as_of` is the log position that it holds at the least."""

    items: tuple[LeaderboardItem, ...]
    next: str | None
    as_of: int


def rating_view(found: rating.Rating) -> RatingView:
    """A rating as answered."""
    return RatingView(found.conservative, found.mu, found.sigma)


def player_answer(person: Person, ratings: dict[str, rating.Rating], as_of: int) -> PlayerAnswer:
    """A person as answered."""
    views = {game: rating_view(found) for game, found in ratings.items()}
    records = person.records
    return PlayerAnswer(
        ref=person.ref,
        name=person.name,
        games=sum([record.games for record in records.values()]),
        wins=sum([record.wins for record in records.values()]),
        chips=sum([record.chips for record in records.values()]),
        rating=views,
        by_game={
            game: RecordView(
                games=record.games,
                wins=record.wins,
                chips=record.chips,
                chips_won=record.chips_won,
                chips_lost=record.chips_lost,
                lives_lost=record.lives_lost,
                rating=views.get(game),
            )
            for game, record in records.items()
        },
        head_to_head=tuple(
            [
                OpponentView(o.ref, o.name, o.games, o.wins, o.losses, o.draws)
                for o in person.opponents
            ]
        ),
        as_of=as_of,
    )


def leaderboard_item(rank: int, ranked: Ranked) -> LeaderboardItem:
    """A player of a leaderboard as answered."""
    found = ranked.rating
    return LeaderboardItem(
        rank=rank,
        ref=ranked.ref,
        name=ranked.name,
        rating=found.conservative,
        mu=found.mu,
        sigma=found.sigma,
        games=ranked.games,
        wins=ranked.wins,
        chips=ranked.chips,
        lives_lost=ranked.lives_lost,
    )
