"""What a recorded episode would have been worth, had it ended after each of its turns.

The engine plays the recorded actions again. After each turn the shop is judged as it stands then, by what the customer
had said by then; a wish without an accepted answer is judged with an empty one, as when the turns run out. So the last
value is the reward of the episode itself.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from components.tables import rows
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.collections import resolve
from ecomrlve.customer.model_grammar import grammar_of
from ecomrlve.environment import Environment
from ecomrlve.episode import Episode
from ecomrlve.errors import EcomrlveError, TrajectoryError
from ecomrlve.replay import first_difference
from ecomrlve.rewards import Reward, efficiency, hallucination
from ecomrlve.tasks.base import ComposedTask, Part, Verdict
from ecomrlve.trajectory import described, stable

MOST_CALLS = 500  # of a whole episode; what is longer is not worth the wait
MOST_KEPT = 256


class RunningRewards:
    """Running rewards by the key of the episode, computed when somebody first asks for one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, dict[str, Any]] = OrderedDict()

    def get(self, key: str, record: Mapping[str, Any], engine: SearchEngine) -> dict[str, Any]:
        """Value of the widget.

        Args:
            key: A key of these very bytes: the running reward of another record must have another.
            record: The record of an episode.
            engine: The engine to play it again with.

        Returns:
            ``{"points": [...]}``, one per turn with the opening first, or ``{"problem": why there is none}``.
        """
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        try:
            value: dict[str, Any] = {"points": [_point(reward) for reward in running_reward(record, engine)]}
        except TrajectoryError as error:
            value = {"problem": str(error)}
        with self._lock:
            self._kept[key] = value
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return value


def _point(reward: Reward) -> dict[str, Any]:
    return {
        "total": reward.total,
        "task": reward.task,
        "efficiency": reward.efficiency,
        "hallucination": reward.hallucination,
        "reason": reward.reason,
    }


def running_reward(record: Mapping[str, Any], engine: SearchEngine) -> list[Reward]:
    """What the episode would have been worth after the opening and after each turn.

    Raises:
        TrajectoryError: It was recorded on another catalog, is too long, or does not come out the same again.
    """
    old, here = record["catalog"], described(engine)
    if {**here, **{name: old.get(name) for name in ("fingerprint", "search")}} != here:
        raise TrajectoryError(
            "This episode was played on another catalog or with another kind of search than this shop's, so that it "
            "cannot be played again here."
        )
    if sum(len(rows(step.get("tool_results"))) for step in rows(record["steps"])) > MOST_CALLS:
        raise TrajectoryError(f"This episode has more than {MOST_CALLS} tool calls: too many to play it again here.")
    found: list[Reward] = []
    try:
        for env in played_again(record, engine):
            found.append(worth_now(env.episode))
        again = env.trajectory().to_dict()
        one, other = (json.loads(json.dumps(stable(each))) for each in (record, again))
    except (EcomrlveError, RecursionError) as error:
        raise TrajectoryError(f"This episode cannot be played again: {error}") from error
    difference = first_difference(one, other)
    if difference:
        raise TrajectoryError(
            f"Played again, this episode does not come out as it is recorded, so that there is none. ({difference})"
        )
    return found


def played_again(record: Mapping[str, Any], engine: SearchEngine) -> Iterator[Environment]:
    """Execute the actions of a record; gives the environment after the opening and after each turn.

    Raises:
        EcomrlveError: The record names what does not exist, or goes on after the end.
    """
    env = Environment(resolve(record["env_id"]), engine, grammar_of(record.get("phrasing"), engine.catalog))
    env.reset(seed=record["seed"], options={"difficulty": record["difficulty"], "overrides": record["overrides"]})
    yield env
    for step in record["steps"]:
        env.step(step["action"])
        yield env


def worth_now(episode: Episode) -> Reward:
    """What an episode is worth as it stands: its reward if it is over, else what ending here would give.

    It reads the hidden goal, so that nothing of it may reach a player whose episode runs. It changes nothing.
    """
    if episode.reward is not None:
        return episode.reward
    verdict = _verdict(episode)
    outputs = episode.world.outputs
    return Reward.of(
        verdict.task,
        efficiency(episode.turn, episode.user_turns, episode.turn_budget),
        hallucination(outputs, {identifier for identifier, ok in outputs.items() if ok}),
        verdict.parts,
        correct=False,  # which needs an accepted answer
        reason=verdict.reason,
    )


def _verdict(episode: Episode) -> Verdict:
    """What the verifiers say of the world as it stands and of the answers so far."""
    found = [
        (intent, intent.task.verify(intent.problem, intent.ledger, intent.answer or {}, episode.axes))
        for intent in episode.intents.all
    ]
    if not isinstance(episode.task, ComposedTask):
        return found[0][1]
    parts = [
        (Part(intent.task, intent.problem), intent.ledger, verdict if intent.answer is not None else None)
        for intent, verdict in found
    ]
    return episode.task.judge(episode.problem, parts)
