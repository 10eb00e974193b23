"""What `ecomrlve play` shows when an episode is over: the reward, the goal, what was said, and the reference agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from ecomrlve.agents.base import play
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.cli.play_game import Game
from ecomrlve.cli.play_records import blocks, clean, table, told
from ecomrlve.cli.play_screen import Screen
from ecomrlve.environment import Environment
from ecomrlve.rewards import EFFICIENCY_WEIGHT, HALLUCINATION_WEIGHT, TASK_WEIGHT, Reward, contributions

PARTS = (
    ("task", TASK_WEIGHT, "did the customer get what it wanted?"),
    ("efficiency", EFFICIENCY_WEIGHT, "few turns of your own; counts only where the task went well"),
    ("hallucination", HALLUCINATION_WEIGHT, "ids that you used without having been shown them"),
)


def reference_run(game: Game) -> dict[str, Any]:
    """The record of the reference agent's episode from the same seed."""
    environment = Environment((game.env_id,), game.environment.engine)
    play(environment, ReferenceAgent(), game.seed, game.difficulty, env_id=game.env_id)
    return environment.trajectory("reference", "agent").to_dict()


def show_ending(screen: Screen, game: Game, record: Mapping[str, Any], reference: Mapping[str, Any]) -> None:
    """All that is known after the end.

    Args:
        screen: Where to print.
        game: A game that is over.
        record: Its trajectory.
        reference: The trajectory of the reference agent from the same seed.
    """
    assert game.reward is not None, "there is no reward before the end"
    screen.console.rule(Text("the end"), style="dim")
    _show_reward(screen, game.reward)
    for note in _notes(record):
        screen.note(note)
    _show_goal(screen, game, record)
    _show_ledger(screen, record)
    _show_reference(screen, reference)


def _show_reward(screen: Screen, reward: Reward) -> None:
    right = reward.correct
    headline = "Correct: all that the customer wanted." if right else "Not correct."
    screen.note(f"{headline} Total {reward.total:+.3f}", "bold green" if right else "bold red")
    grid = _grid("part", "weight × value", "adds", "")
    added = contributions(reward.task, reward.efficiency, reward.hallucination)
    values = {"task": reward.task, "efficiency": reward.efficiency, "hallucination": reward.hallucination}
    for name, weight, meaning in PARTS:
        grid.add_row(name, f"{weight:.2f} × {values[name]:+.2f}", f"{added[name]:+.3f}", meaning)
    screen.indented(grid, 2)
    screen.note(reward.reason)
    figures = {name: value for name, value in reward.parts.items() if not isinstance(value, list)}
    screen.note(" · ".join(f"{name} {told(value)}" for name, value in figures.items()), "dim")


def _notes(record: Mapping[str, Any]) -> list[str]:
    """How the episode ended, whose turns they were, and what was left out so that it can be solved in time."""
    notes = []
    if record["truncated"]:
        notes.append("The turns ran out before an answer was given.")
    free = [
        f"{step['turn']} ({step['discount_reason'] or 'caused by the customer'})"
        for step in record["steps"]
        if step["discounted"]
    ]
    if free:
        notes.append(f"Turns that were not counted as yours: {', '.join(free)}.")
    if record["dropped_hazards"]:
        notes.append(f"Left out, so that this can be solved in time: {', '.join(record['dropped_hazards'])}.")
    return notes


def _show_goal(screen: Screen, game: Game, record: Mapping[str, Any]) -> None:
    """Each goal with what was done for it; a journey has one for each wish."""
    goal, done = record["goal"], record["done"]
    wishes = goal.get("intents")
    for place, wish in enumerate(wishes or [goal], 1):
        env_id = wish.get("env_id", game.env_id)
        title = Environment.task_of(env_id).title
        screen.note(f"\nWish {place}, {title.lower()}: the goal" if wishes else "\nThe goal", "bold")
        _show_blocks(screen, game, {name: value for name, value in wish.items() if name != "env_id"})
        screen.note("What you did for it", "bold")
        own = [
            {name: value for name, value in entry.items() if name != "intent"}
            for entry in done
            if not wishes or entry.get("intent") == env_id
        ]
        screen.indented(table(own, game.numbers, screen.console.width - 2) if own else Text("nothing"), 2)
    for number, turn in enumerate(game.turns, 1):
        if turn.action.answer:
            screen.note(f"Your answer in turn {number}", "bold")
            _show_blocks(screen, game, turn.action.answer)


def _show_blocks(screen: Screen, game: Game, data: Mapping[str, Any]) -> None:
    for block in blocks(data, game.numbers, screen.console.width - 2):
        screen.indented(block, 2)


def _show_ledger(screen: Screen, record: Mapping[str, Any]) -> None:
    """What the customer wanted, and in which turn it said so."""
    screen.note("\nWhat the customer said", "bold")
    grid = _grid("what", "when")
    for slot in record["ledger"]:
        item = slot["item_name"] if slot["item_name"] not in slot["text"] else ""
        text = (slot["text"] or slot["key"]).removesuffix(": ")
        wish, colon, _ = slot["key"].partition(":")
        if colon and wish.isdecimal():  # a journey's keys begin with the place of the wish
            text = f"{int(wish) + 1}. {text}"
        when = "; ".join(_when(saying, slot["text"]) for saying in slot["said"])
        grid.add_row(
            Text(clean(f"{text} ({item})" if item else text)), Text(clean(when or "never, so it is not scored"))
        )
    screen.indented(grid, 2)


def _when(saying: Mapping[str, Any], final: str) -> str:
    """The turn of a saying, and what was said where it is not what counted in the end."""
    where = "at the opening" if saying["turn"] == 0 else f"turn {saying['turn']} ({saying['act']})"
    return where if saying["text"] == final else f"{where}: {saying['text']}"


def _show_reference(screen: Screen, record: Mapping[str, Any]) -> None:
    reward, steps = record["reward"], record["steps"]
    verdict = "correct" if reward["correct"] else "not correct"
    turns = f"{len(steps)} turn{'' if len(steps) == 1 else 's'}"
    screen.note("\nThe reference agent from the same seed", "bold")
    screen.note(f"  {turns}, total {reward['total']:+.3f}, {verdict}")
    for step in steps:
        screen.note(f"  {step['turn']}. {_in_short(step['canonical'])}", "dim")


def _in_short(action: Mapping[str, Any]) -> str:
    """A turn as the names of its tools, and whether it asks and answers."""
    counts: dict[str, int] = {}
    for call in action.get("tool_calls", ()):
        counts[call["name"]] = counts.get(call["name"], 0) + 1
    parts = [name if count == 1 else f"{count} × {name}" for name, count in counts.items()]
    parts += ["asks the customer"] if action.get("assistant_message") else []
    parts += ["answers"] if "answer" in action else []
    return ", ".join(parts)


def _grid(*columns: str) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in columns:
        grid.add_column(name, overflow="fold")
    return grid
