"""Trajectories become a dataset for supervised fine-tuning: chosen, executed again, split by seed, and written.

Which split a seed belongs to depends on the seed alone, so it is the same in every environment, at every difficulty and
in every export: whoever trains on one export may test on another. Seeds that are held back for measuring are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from ecomrlve.agents.base import Agent, play
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.environment import Environment
from ecomrlve.episode import INVALID
from ecomrlve.errors import GenerationError, short
from ecomrlve.replay import iter_trajectories
from ecomrlve.splits import HELD, split_of_seed
from ecomrlve.streams import key_of, unit_hash
from ecomrlve.training.demonstrations_card import Origin, Sizes, Tally, card
from ecomrlve.training.demonstrations_chat import LeftOutError, Reason, Talk, demonstrate
from ecomrlve.training.demonstrations_files import CARD, DATA, DemonstrationError, SplitWriter, new_folder, row_of
from ecomrlve.trajectory import described

# The record of an episode, or why there is none.
Source = dict[str, Any] | LeftOutError

_SPLIT_KEY = key_of("split of demonstrations")


@dataclass(frozen=True, slots=True)
class Choice:
    """Which trajectories are taken, and how they are written.

    Attributes:
        only: ``correct`` takes successes, ``answered`` every episode whose answer was accepted.
        min_total: Least reward.
        agent: Whose trajectories; empty for anybody's.
        per_cell: Most rows per environment and difficulty, the first that come; None for all.
        max_characters: Longest chat; None for any length.
        talk: How the agent talks: by calls of ``ask_user`` or as plain ``text``.
        test_share: Share of the seeds whose rows are the test split.
        allow_held: Take seeds that are held back for measuring, too.

    Raises:
        DemonstrationError: A number is out of range.
    """

    only: Literal["correct", "answered"] = "correct"
    min_total: float = 0.0
    agent: str = ""
    per_cell: int | None = None
    max_characters: int | None = None
    talk: Talk = "ask_user"
    test_share: float = 0.1
    allow_held: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.test_share <= 1:
            raise DemonstrationError(f"the share of the test split must be from 0 to 1, not {self.test_share}")
        for name, value in (("per_cell", self.per_cell), ("max_characters", self.max_characters)):
            if value is not None and value < 1:
                raise DemonstrationError(f"{name} must be at least 1, not {value}")

    def rules(self) -> list[str]:
        """What the dataset card says about it."""
        taken = "successes only" if self.only == "correct" else "every episode whose answer was accepted"
        limits = [f"a total of at least {self.min_total:g}"]
        limits += [f"played by {self.agent}"] * bool(self.agent)
        limits += [f"at most {self.per_cell} per environment and difficulty"] * (self.per_cell is not None)
        limits += [f"chats of at most {self.max_characters or 0:,} characters"] * (self.max_characters is not None)
        how = {"ask_user": "by calls of `ask_user`, so that every turn has a call", "text": "in plain text"}[self.talk]
        held = "not kept out" if self.allow_held else "not in it"
        return [
            f"Chosen: {taken}, {', '.join(limits)}; no chat twice.",
            f"The agent talks to the customer {how}; its answers are calls of `submit_answer`.",
            f"Split by seed: a hash of the seed alone puts {100 * self.test_share:g} % of all seeds into `test`, the "
            "same in every environment, at every difficulty and in every export.",
            f"Seeds that are held back for measuring ({_held()}) are {held}.",
        ]


@dataclass(frozen=True, slots=True)
class Export:
    """What an export came to.

    Attributes:
        folder: Where it is.
        tally: What it holds, and what was left out.
        size: Bytes of its Parquet files.
    """

    folder: Path
    tally: Tally
    size: int


def _storable(text: str) -> str:
    text.encode()  # half a letter is no text that a table holds
    return text


_Text = Annotated[str, AfterValidator(_storable)]


class _Outcome(BaseModel):
    model_config = ConfigDict(strict=True)
    total: float
    correct: bool
    reason: str


class _Player(BaseModel):
    model_config = ConfigDict(strict=True)
    name: _Text = ""


class _Claims(BaseModel):
    """What a record says of itself; enough to tell whether executing it again is worth the time."""

    model_config = ConfigDict(strict=True)
    env_id: str
    difficulty: int
    seed: int
    reward: _Outcome
    player: _Player = _Player()
    episode_id: _Text = ""


def split_of(seed: int, test_share: float = 0.1) -> str:
    """``train`` or ``test``, by the seed alone. What a smaller share puts into ``test``, a larger one does too."""
    return "test" if unit_hash(_SPLIT_KEY, seed) < test_share else "train"


def refuse_held(seeds: Iterable[int]) -> None:
    """Make sure that no seed is held back for measuring.

    Raises:
        DemonstrationError: One is.
    """
    for seed in seeds:
        if (name := split_of_seed(seed)) in HELD:
            raise DemonstrationError(
                f"seed {seed} belongs to {name}, which is for measuring and must not be trained on ({_held()}); "
                "take other seeds, or --allow-held"
            )


def _held() -> str:
    return ", ".join(f"{name}: {seeds[0]} to {seeds[-1]}" for name, seeds in HELD.items())


def stored(paths: Iterable[str | Path]) -> Iterator[Source]:
    """The trajectories of files and folders, one at a time.

    Raises:
        TrajectoryError: There is nothing at a path, or it is not text.
    """
    for path in paths:
        for problem, data in iter_trajectories(path):
            yield LeftOutError(Reason.UNREADABLE, problem) if data is None else data


def played(
    engine: SearchEngine, agent: Agent, env_ids: Sequence[str], difficulties: Sequence[int], seeds: Sequence[int]
) -> Iterator[Source]:
    """Trajectories that are made on the spot, one for each environment, difficulty and seed."""
    for env_id in env_ids:
        env = Environment((env_id,), engine)
        for d in difficulties:
            for seed in seeds:
                try:
                    play(env, agent, seed, d)
                except GenerationError as error:
                    yield LeftOutError(Reason.NOT_DRAWN, f"{env_id}, d = {d}, seed {seed}: {error}")
                    continue
                # Without the random part that tells stored records apart: the same command gives the same bytes.
                identifier = f"{env_id}-d{d}-s{seed}-{agent.name}"
                yield env.trajectory(agent.name).to_dict() | {"episode_id": identifier}


def export(
    sources: Iterable[Source],
    engine: SearchEngine,
    folder: str | Path,
    choice: Choice | None = None,
    *,
    command: str = "ecomrlve demonstrations",
    overwrite: bool = False,
) -> Export:
    """Write the trajectories that were chosen as a dataset; the folder is there when all of it is, or not at all.

    Args:
        sources: What `stored` or `played` gives; they are read one at a time and not kept.
        engine: The engine with the catalog that they were recorded on.
        folder: Where the dataset goes.
        choice: Which are taken, and how they are written.
        command: The command line, for the dataset card.
        overwrite: Replace an earlier export in the folder.

    Raises:
        DemonstrationError: A seed is held back, nothing is left to export, or the folder cannot be written.
        TrajectoryError: A source cannot be read.
    """
    folder, choice, tally = Path(folder), choice or Choice(), Tally()
    with new_folder(folder, overwrite=overwrite) as working:
        with SplitWriter(working / DATA) as writer:
            _Exporter(engine, choice, tally, writer).take_all(sources)
        if not tally.rows:
            why = "; ".join(f"{count} like {tally.examples[key]}" for key, count in tally.left_out.most_common())
            raise DemonstrationError(f"there is nothing to export: {why or 'no trajectory was found'}")
        files = sum(path.stat().st_size for path in (working / DATA).iterdir())
        origin = Origin(command, described(engine), choice.rules())
        text = card(tally, origin, Sizes(writer.table_bytes, files))
        (working / CARD).write_text(text, encoding="utf-8")
    return Export(folder, tally, files)


class _Exporter:
    """Takes trajectories one at a time and hands those that pass to the writer."""

    def __init__(self, engine: SearchEngine, choice: Choice, tally: Tally, writer: SplitWriter):
        self._engine = engine
        self._choice = choice
        self._tally = tally
        self._writer = writer
        self._catalog = described(engine)["fingerprint"]
        self._seen: set[int] = set()

    def take_all(self, sources: Iterable[Source]) -> None:
        for source in sources:
            if isinstance(source, LeftOutError):
                self._tally.leave_out(source.reason, str(source))
                continue
            try:
                self._take(source)
            except LeftOutError as error:
                self._tally.leave_out(error.reason, f"{short(source.get('episode_id', '?'))}: {error}")

    def _take(self, data: dict[str, Any]) -> None:
        claims = _claims(data)
        self._check_claims(claims)
        demonstration = demonstrate(data, self._engine, self._choice.talk)
        most = self._choice.max_characters
        if most is not None and demonstration.characters > most:
            raise LeftOutError(Reason.TOO_LONG, f"{demonstration.characters:,} characters")
        agent = claims.player.name
        row = row_of(demonstration, agent=agent, episode_id=claims.episode_id, catalog=self._catalog)
        chat = key_of(*row["messages"])
        if chat in self._seen:
            raise LeftOutError(Reason.REPEATED)
        self._seen.add(chat)
        split = split_of(demonstration.seed, self._choice.test_share)
        self._writer.add(split, row)
        self._tally.add(demonstration, split, agent)

    def _check_claims(self, claims: _Claims) -> None:
        choice, reward = self._choice, claims.reward
        if choice.agent and claims.player.name != choice.agent:
            raise LeftOutError(Reason.OTHER_AGENT)
        if reward.reason.startswith(INVALID):
            raise LeftOutError(Reason.INVALID, reward.reason)
        if choice.only == "correct" and not reward.correct:
            raise LeftOutError(Reason.NOT_CORRECT, reward.reason)
        if reward.total < choice.min_total:
            raise LeftOutError(Reason.LOW_TOTAL, f"{reward.total:.3f}")
        if not choice.allow_held:
            refuse_held([claims.seed])
        if choice.per_cell is not None and self._tally.in_cell(claims.env_id, claims.difficulty) >= choice.per_cell:
            raise LeftOutError(Reason.FULL)


def _claims(data: dict[str, Any]) -> _Claims:
    try:
        return _Claims.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise LeftOutError(Reason.NO_RECORD, f"{place}: {first['msg']}") from error
