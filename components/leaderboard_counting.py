"""Which games count on the leaderboard, and what they amount to. Pure functions: nothing here reads or stores.

A player is compared by episodes it had not seen before: of an episode that it met twice, the first game counts, and
one whose goal was known beforehand never does. People remember, and at another difficulty a seed often has the same
goal, so that for them the difficulty makes no new episode.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from components.episode import AGAIN, YOU
from components.session import ENVIRONMENTS, whole
from components.tables import mapping, words
from ecomrlve.evaluation.statistics import mean_interval, wilson
from ecomrlve.splits import split_of_seed

HARDEST: Final = 12
MINIMUM: Final = 10  # problems; with fewer an interval is wider than most differences between players
MOST_CHOSEN: Final = 4  # lines of the chart
LONGEST_NAME: Final = 60
KINDS: Final = {"human": "People", "agent": "Agents"}
# Why a game does not count, as a visitor reads it after a number.
LEFT_OUT: Final = {
    "changed": "did not come out the same when played again from the actions",
    "catalog": "played on another catalog or with another kind of search",
    "anonymous": "played without a name",
    "seen": "played with the guide, with an agent's help, or after the goal had been shown",
    "repeated": "another game of an episode that the player had played before",
    "axes": "with axes of difficulty changed by hand",
    "training": "an evaluation over seeds that are for training",
    "unknown": "by a player this leaderboard does not know, such as a program that used the API",
}


@dataclass(frozen=True, slots=True)
class Game:
    """One finished episode, with the few facts that count.

    Attributes:
        name: Who played.
        kind: ``human``, ``agent``, or what else the record says.
        env_id: Environment.
        difficulty: d.
        seed: Seed.
        correct: Whether it was a success.
        total: The reward.
        trial: Repetition of the same episode in an evaluation.
        run: Empty for a game played here; for an episode of an evaluation the key of its run.
        overridden: Whether axes of difficulty were changed.
    """

    name: str
    kind: str
    env_id: str
    difficulty: int
    seed: int
    correct: bool
    total: float
    trial: int = 0
    run: str = ""
    overridden: bool = False

    @property
    def problem(self) -> tuple[str, int, int]:
        """What was played."""
        return self.env_id, self.difficulty, self.seed


def game_of(record: Mapping[str, Any]) -> Game:
    """The game that a record tells of, once it was found to come out the same."""
    player, note = mapping(record.get("player")), mapping(record.get("evaluation"))
    name, trial = words(note.get("agent")) or words(player.get("name")), note.get("trial")
    return Game(
        name=name[:LONGEST_NAME],
        kind="agent" if note else words(player.get("kind")),
        env_id=words(record["env_id"]),
        difficulty=int(record["difficulty"]),
        seed=int(record["seed"]),
        correct=bool(record["reward"]["correct"]),
        total=float(record["reward"]["total"]),
        trial=trial if isinstance(trial, int) else 0,
        run="stored" if note else "",
        overridden=bool(record.get("overrides")),
    )


def why_not(game: Game, people: Iterable[str], agents: Iterable[str]) -> str:
    """Why a game does not count whatever else was played, as a key of `LEFT_OUT`; empty if it may count.

    Args:
        game: The game.
        people: Names under which people asked to be listed.
        agents: Names of the agents that this server offers.
    """
    if game.overridden:
        return "axes"
    if game.run:
        return "training" if split_of_seed(game.seed) == "train" else ""
    if game.kind == "agent":
        return "" if game.name in agents else "unknown"
    if game.kind != "human" or game.name.endswith(AGAIN):
        return "seen"
    if game.name == YOU:
        return "anonymous"
    return "" if game.name in people else "unknown"


@dataclass(slots=True)
class Player:
    """Somebody on the board.

    Attributes:
        key: Tells players apart.
        name: For people.
        kind: A key of `KINDS`.
        note: Where the games come from, where that matters.
        games: Those that count, in the order they were found.
    """

    key: str
    name: str
    kind: str
    note: str = ""
    games: list[Game] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Counted:
    """All games sorted out.

    Attributes:
        players: By key.
        left_out: How many games were left out, by a key of `LEFT_OUT`.
    """

    players: Mapping[str, Player]
    left_out: Mapping[str, int]


def person_key(name: str) -> str:
    """The key of the person with this name."""
    return f"human:{name}"


def counted(games: Iterable[Game], people: Iterable[str], agents: Iterable[str], notes: Mapping[str, str]) -> Counted:
    """Sort games into players and those that do not count.

    Args:
        games: All, oldest first.
        people: See `why_not`.
        agents: See `why_not`.
        notes: What to say of each submitted run, by its key.
    """
    people, agents = frozenset(people), frozenset(agents)
    players: dict[str, Player] = {}
    met: set[tuple[Any, ...]] = set()
    left_out: Counter[str] = Counter()
    for game in games:
        reason = why_not(game, people, agents)
        player = _player_of(game, notes)
        place = (game.env_id, game.seed) if player.kind == "human" else (game.problem, game.trial)
        once = (player.key, place)
        if not reason and once in met:
            reason = "repeated"
        if reason:
            left_out[reason] += 1
            continue
        met.add(once)
        players.setdefault(player.key, player).games.append(game)
    return Counted(players, left_out)


def _player_of(game: Game, notes: Mapping[str, str]) -> Player:
    if game.run == "stored":
        return Player(f"stored:{game.name}", game.name, "agent", "evaluation on this server")
    if game.run:
        return Player(f"run:{game.run}", game.name, "agent", notes.get(game.run, ""))
    if game.kind == "agent":
        return Player(f"agent:{game.name}", game.name, "agent", "watched here and kept")
    return Player(person_key(game.name), game.name, "human")


@dataclass(frozen=True, slots=True)
class View:
    """What a visitor looks at.

    Attributes:
        env_id: Only this environment; empty for all.
        difficulty: Only this d; None for all.
        kind: Only players of this kind; empty for all.
        chosen: Keys of the players in the chart; None until the visitor has chosen.
    """

    env_id: str = ""
    difficulty: int | None = None
    kind: str = ""
    chosen: tuple[str, ...] | None = None

    def of(self, games: Iterable[Game]) -> list[Game]:
        """Those games that are looked at."""
        return [
            game
            for game in games
            if (not self.env_id or game.env_id == self.env_id)
            and (self.difficulty is None or game.difficulty == self.difficulty)
        ]


def view_of(sent: Any) -> View:
    """A view from what a page or a link sent; whatever makes no sense is as if it had not been sent."""
    sent = mapping(sent)
    env_id, kind, chosen = sent.get("env"), sent.get("kind"), sent.get("chosen")
    difficulty = whole(sent.get("d"))
    usable = isinstance(difficulty, int) and not isinstance(difficulty, bool) and 0 <= difficulty <= HARDEST
    keys = [key for key in chosen if isinstance(key, str)][:MOST_CHOSEN] if isinstance(chosen, list) else None
    return View(
        env_id=env_id if isinstance(env_id, str) and env_id in ENVIRONMENTS else "",
        difficulty=difficulty if usable else None,
        kind=kind if isinstance(kind, str) and kind in KINDS else "",
        chosen=None if keys is None else tuple(keys),
    )


@dataclass(frozen=True, slots=True)
class Score:
    """What some games amount to, with 95 % intervals; repeated trials of a problem count as one.

    Attributes:
        games: How many there are.
        problems: How many different episodes they are of.
        success: Share of successes.
        low: Lower bound of that share.
        high: Upper bound.
        total: Mean reward.
        total_low: Lower bound of that mean.
        total_high: Upper bound.
    """

    games: int
    problems: int
    success: float
    low: float
    high: float
    total: float
    total_low: float
    total_high: float


def score(games: Sequence[Game]) -> Score:
    """The score of some games, at least one, by the same formulas as `ecomrlve.evaluation.leaderboard`."""
    problems = [game.problem for game in games]
    different = len(set(problems))
    success = sum(game.correct for game in games) / len(games)
    totals = [game.total for game in games]
    low, high = wilson(success * different, different)
    return Score(len(games), different, success, low, high, sum(totals) / len(totals), *mean_interval(totals, problems))


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's place in a view.

    Attributes:
        player: Who.
        score: Over the games of the view.
        difficulties: The lowest and the highest d played in it.
        rank: From 1 on; 0 for one with fewer than `MINIMUM` problems.
    """

    player: Player
    score: Score
    difficulties: tuple[int, int]
    rank: int


def standings(players: Iterable[Player], view: View) -> list[Standing]:
    """All players of a view: the ranked ones best first, then the others, those nearest to a rank first.

    What ranks is the lower bound of the success, so that a short lucky streak does not stand above a long good record;
    equal bounds are told apart by the mean reward.
    """
    found = []
    for player in players:
        games = view.of(player.games) if not view.kind or player.kind == view.kind else []
        if games:
            levels = [game.difficulty for game in games]
            found.append((player, score(games), (min(levels), max(levels))))
    ranked = sorted(
        (one for one in found if one[1].problems >= MINIMUM),
        key=lambda one: (*_worth(one[1]), one[0].name, one[0].key),
    )
    others = sorted(
        (one for one in found if one[1].problems < MINIMUM),
        key=lambda one: (-one[1].problems, *_worth(one[1]), one[0].name, one[0].key),
    )
    ranks: list[int] = []
    for place, one in enumerate(ranked, start=1):
        level = place > 1 and _worth(one[1]) == _worth(ranked[place - 2][1])
        ranks.append(ranks[-1] if level else place)
    return [Standing(*one, rank) for one, rank in zip(ranked, ranks, strict=True)] + [
        Standing(*one, 0) for one in others
    ]


def _worth(one: Score) -> tuple[float, float]:
    return -one.low, -one.total


def curve(player: Player, env_id: str) -> list[tuple[int, Score]]:
    """A player's score at every d that it played, in one environment or in all."""
    levels: dict[int, list[Game]] = defaultdict(list)
    for game in View(env_id).of(player.games):
        levels[game.difficulty].append(game)
    return [(d, score(levels[d])) for d in sorted(levels)]
