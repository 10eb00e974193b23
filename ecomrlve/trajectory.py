"""The record of an episode: complete enough to be replayed, judged again and looked at."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ecomrlve import __version__
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.model_grammar import RecordedGrammar
from ecomrlve.episode import Episode, plain_copy
from ecomrlve.intents import Intent

SCHEMA = 1
# What may differ between two runs of the same actions: of the whole record; of a step or a tool result, only "ms".
VOLATILE = ("episode_id", "player", "engine", "evaluation")


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One finished episode as plain JSON data."""

    data: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The record as `record` makes it: options, opening, steps, goal, what was done, ledger, reward."""
        return self.data

    def to_json(self) -> str:
        """One line of a JSONL file."""
        return json.dumps(self.data, ensure_ascii=False, separators=(",", ":"))


def record(episode: Episode, overrides: Mapping[str, float], player: Mapping[str, str]) -> Trajectory:
    """Make the record of a finished episode.

    Args:
        episode: A finished episode.
        overrides: Axis overrides it was reset with.
        player: ``name`` and ``kind`` ("human" or "agent") of who played.
    """
    problem, reward = episode.problem, episode.reward
    assert reward is not None
    opening = episode.opening
    return Trajectory(
        {
            "schema": SCHEMA,
            "engine": __version__,
            "episode_id": f"{episode.task.env_id}-d{episode.axes.d}-s{episode.seed}-{uuid.uuid4().hex[:8]}",
            "env_id": episode.task.env_id,
            "difficulty": episode.axes.d,
            "overrides": dict(overrides),
            "seed": episode.seed,
            "catalog": described(episode.world.engine),
            "player": dict(player),
            "axes": episode.axes.axes(),
            "opening": {"acts": list(opening.acts), "text": opening.text, "slots": list(opening.slots)},
            "steps": plain_copy(episode.steps),
            "goal": revealed(episode),
            "done": episode.done,
            "ledger": [
                _ledger_entry(episode, intent, slot)
                for intent in episode.intents.all
                for slot in intent.ledger.slots.values()
            ],
            "dropped_hazards": list(problem.dropped),
            "reward": reward.to_dict(),
            "terminated": episode.terminated,
            "truncated": episode.truncated,
        }
        | _phrasing(episode)
    )


def _phrasing(episode: Episode) -> dict[str, Any]:
    """What a language model said as the customer, where one did."""
    grammar = episode.grammar
    return {"phrasing": grammar.to_dict()} if isinstance(grammar, RecordedGrammar) else {}


def revealed(episode: Episode) -> dict[str, Any]:
    """The goal, for people, after the end; that of a journey lists those of its intents."""
    goals = [intent.task.reveal(intent.problem, intent.ledger) for intent in episode.intents.all]
    if len(goals) == 1:
        return goals[0]
    return {"env_id": episode.task.env_id, "intents": goals}


def stable(data: Mapping[str, Any]) -> dict[str, Any]:
    """A record without what may differ between two runs, for comparing byte for byte."""
    kept = {key: value for key, value in data.items() if key not in VOLATILE}
    steps = kept.get("steps")
    if isinstance(steps, list):
        kept["steps"] = [_untimed(step) for step in steps]
    return kept


def _untimed(step: Any) -> Any:
    if not isinstance(step, Mapping):
        return step
    kept = {key: value for key, value in step.items() if key != "ms"}
    if isinstance(kept.get("tool_results"), list):
        kept["tool_results"] = [
            {key: value for key, value in result.items() if key != "ms"} if isinstance(result, Mapping) else result
            for result in kept["tool_results"]
        ]
    return kept


def described(engine: SearchEngine) -> dict[str, str]:
    """What an episode depends on besides its seed and options."""
    return {"name": engine.catalog.name, "fingerprint": engine.catalog.fingerprint, "search": engine.method}


def _ledger_entry(episode: Episode, intent: Intent, slot: Slot) -> dict[str, Any]:
    sayings = intent.ledger.sayings.get(slot.key, [])
    return {
        "key": episode.intents.key(intent, slot.key),
        "kind": slot.kind,
        "text": slot_text(slot, slot.value),
        "item_name": slot.item_name,
        "omitted": slot.key in intent.problem.omitted,
        "said": [{"turn": s.turn, "act": s.act, "text": slot_text(slot, s.value)} for s in sayings],
    }


def slot_text(slot: Slot, value: Any) -> str:
    """A slot in few words, for people: ``size: XS``, ``price ≤ 25``, ``first priority: rating``."""
    if slot.kind == "priority":
        what = f"brand {value}" if slot.attribute == "brand" else slot.label
        return f"{'first' if slot.rank == 1 else 'second'} priority: {what}"
    if slot.kind == "fallback":
        if value["do"] == "drop":
            return "if sold out: leave it out"
        wanted = [str(part) for part in (value.get("title"), value.get("value")) if part]
        wanted += [f"{k} {v}" for k, v in (value.get("identify") or {}).items()]
        return f"if sold out: {', '.join(wanted)}"
    if slot.kind in ("type", "item"):
        return str(value)
    words = " or ".join(map(str, value)) if isinstance(value, list) else str(value)
    sign = {"le": " ≤ ", "ge": " ≥ "}.get(slot.operator, ": ")
    unit = f" {slot.unit}" if slot.unit and slot.unit != "$" else ""
    return f"{slot.label}{sign}{'$' if slot.unit == '$' else ''}{words}{unit}"
