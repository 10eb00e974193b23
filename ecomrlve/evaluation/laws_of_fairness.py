"""Laws 7 and 8: bounded, indifferent."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

from ecomrlve.agents.base import play
from ecomrlve.agents.baselines import RandomAgent
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.environment import Environment
from ecomrlve.evaluation.laws import Cell, LawResult
from ecomrlve.evaluation.pool import each, environment
from ecomrlve.streams import Stream

# --- 7. bounded ------------------------------------------------------------------------------------------------------

GARBAGE: tuple[Any, ...] = (
    "", "{", "null", "[]", "plain words", '{"answer": 1}', '{"tool_calls": [{"name": "rm", "args": {}}]}', None, 3.5,
    {"answer": {"recommended_product_ids": "p1"}}, {"answer": {"recommended_product_ids": ["p1"] * 101}},
    {"answer": {"recommended_product_ids": ["p1"] * 100}}, {"tool_calls": [{"name": "cart_add", "args": {"qty": 1}}]},
    {"tool_calls": [{"name": "cart_add", "args": {"product_id": "p0000000", "qty": 1.5}}]},
    {"tool_calls": [{"name": "cart_add", "args": {"product_id": "p0000000", "qty": 10**9}}]},
    {"assistant_message": "x" * 70_000}, {"assistant_message": "hello", "answer": {"done": False}},
)  # fmt: skip


def _bounded_cell(cell: Cell) -> tuple[bool, float]:
    env_id, d, seed = cell
    env = environment(env_id)
    rewards = [play(env, RandomAgent(), seed, d)]
    for number in range(3):
        env.reset(seed=seed, options={"difficulty": d})
        stream = Stream("garbage", seed, number)
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(stream.choice(GARBAGE))
            over = terminated or truncated
        rewards.append(info["reward"])
    numbers = [value for r in rewards for value in (r.task, r.efficiency, r.hallucination, r.total)]
    return all(math.isfinite(value) and -1 <= value <= 1 for value in numbers), max(r.total for r in rewards)


def bounded(engine: SearchEngine, cells: Sequence[Cell], workers: int, perfect: bool, progress: bool) -> LawResult:
    """Law 7: rewards stay in [−1, 1] for any input, and a perfect run has r_task = 1 exactly (from law 1)."""
    outcomes = each(_bounded_cell, cells, engine, workers=workers, label="law 7", progress=progress)
    inside = sum(ok for ok, _ in outcomes)
    rows = [
        {"check": "random and garbage agents: all rewards finite and within [-1, 1]", "cases": 4 * len(outcomes),
         "passed": inside == len(outcomes)},
        {"check": "perfect runs of law 1 have r_task = 1 exactly", "cases": len(outcomes), "passed": perfect},
    ]  # fmt: skip
    best = max(total for _, total in outcomes)
    summary = f"{inside}/{len(outcomes)} cells within bounds; best total of a random or garbage agent {best:+.2f}"
    return LawResult(7, "bounded", inside == len(outcomes) and perfect, summary, rows)


# --- 8. indifferent --------------------------------------------------------------------------------------------------

Action = dict[str, Any]
ID_NAMES = (
    "product_id", "variant_id", "order_id", "line_id", "return_id", "policy_id", "new_product_id", "new_variant_id",
)  # fmt: skip
ANSWER_IDS = ("selected_order_id", "selected_line_id")
WRITES = ("cart_", "return_initiate", "return_exchange", "return_cancel")


def _with_ids(action: Action, change: Callable[[str], str], *, writes_only: bool = False) -> Action:
    """The action with every id changed, in calls and in the answer."""
    for call in action.get("tool_calls", []):
        if not writes_only or call["name"].startswith(WRITES):
            for key in ID_NAMES:
                if isinstance(call["args"].get(key), str):
                    call["args"][key] = change(call["args"][key])
    answer = action.get("answer", {})
    if answer.get("recommended_product_ids"):
        answer["recommended_product_ids"] = [change(i) for i in answer["recommended_product_ids"]]
    for key in ANSWER_IDS:
        if answer.get(key):
            answer[key] = change(answer[key])
    return action


def _shouted(action: Action, budget: int) -> Action:
    """Ids, statuses and decisions in capitals, with spaces around."""
    answer = action.get("answer", {})
    for key in ("order_status", "return_decision"):
        if answer.get(key):
            answer[key] = f" {answer[key].upper()}  "
    if isinstance(answer.get("policy_answer"), str):
        answer["policy_answer"] = f" {answer['policy_answer'].upper()} "
    return _with_ids(action, lambda identifier: f"  {identifier.upper()} ")


def _numbers_as_text(action: Action, budget: int) -> Action:
    """Prices in filters and numbers in the answer as text."""
    for call in action.get("tool_calls", []):
        price = (call["args"].get("filters") or {}).get("price")
        if isinstance(price, dict):
            call["args"]["filters"]["price"] = {
                op: f"${value:.2f}" if isinstance(value, int | float) else value for op, value in price.items()
            }
    answer = action.get("answer", {})
    if isinstance(answer.get("policy_answer"), int | float):
        answer["policy_answer"] = f"{answer['policy_answer']} "
    return action


def _reversed_cart(action: Action, budget: int) -> Action:
    calls = action.get("tool_calls", [])
    cart = [call for call in calls if call["name"].startswith("cart_")]
    if cart:
        action["tool_calls"] = [call for call in calls if call not in cart] + cart[::-1]
    return action


def _extra_reads(action: Action, budget: int) -> Action:
    calls = action.get("tool_calls", [])
    if calls and len(calls) < budget:
        action["tool_calls"] = [*calls, {"name": "datetime_now", "args": {}}]
    return action


def _lines_split(action: Action, budget: int) -> Action:
    calls = action.get("tool_calls", [])
    split: list[Action] = []
    for call in calls:
        room = budget - len(calls) - len(split)
        if call["name"] == "cart_add" and call["args"].get("qty", 1) > 1 and room > 0:
            split.append({"name": "cart_add", "args": {**call["args"], "qty": 1}})
            call["args"]["qty"] -= 1
    if split:
        action["tool_calls"] = calls + split
    return action


def _as_openai(action: Action, budget: int) -> Action:
    calls = [(call["name"], call["args"]) for call in action.get("tool_calls", [])]
    if "answer" in action:
        calls.append(("submit_answer", action["answer"]))
    return {
        "role": "assistant",
        "content": action.get("assistant_message") or None,
        "tool_calls": [
            {"id": str(n), "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
            for n, (name, args) in enumerate(calls)
        ],
    }


HARMLESS: dict[str, Callable[[Action, int], Action]] = {
    "letter case and spaces": _shouted,
    "numbers as text": _numbers_as_text,
    "cart operations reversed": _reversed_cart,
    "extra reads": _extra_reads,
    "lines split": _lines_split,
    "openai message": _as_openai,
}


def _nearly(action: Action, answer: Callable[[Any], Any]) -> Action:
    """The action with its policy answer changed."""
    if "policy_answer" in action.get("answer", {}):
        action["answer"]["policy_answer"] = answer(action["answer"]["policy_answer"])
    return action


def _without_writes(action: Action) -> Action:
    """The answer stays, what it claims to have done is not done."""
    if "tool_calls" in action:
        action["tool_calls"] = [call for call in action["tool_calls"] if not call["name"].startswith(WRITES)]
        if not action["tool_calls"]:
            del action["tool_calls"]
    if not action:
        action["assistant_message"] = "One moment."
    return action


def _foreign(env: Environment, seed: int, d: int) -> Callable[[str], str]:
    """What the same thing is called in the episode of the next seed."""
    other = Environment(env.env_ids, env.engine)
    other.reset(seed=seed + 1, options={"difficulty": d})
    world, foreign = env.episode.world, other.episode.world

    def rename(identifier: str) -> str:
        row = world.product_ids.decode(identifier)
        return identifier[::-1] if row is None else foreign.product_id(row)

    return rename


def _harmful(env: Environment, seed: int, d: int) -> dict[str, Callable[[Action], Action]]:
    rename = _foreign(env, seed, d)
    return {
        "last character of every id dropped": lambda a: _with_ids(a, lambda i: i[:-1], writes_only=True),
        "ids of the next seed": lambda a: _with_ids(a, rename, writes_only=True),
        "half of the ids cut off": lambda a: _with_ids(a, lambda i: i[: len(i) // 2], writes_only=True),
        "answer kept, actions left out": _without_writes,
        "a nearby number": lambda a: _nearly(a, lambda x: x + 1 if isinstance(x, int | float) else x[:-1]),
        "the wrong sign": lambda a: _nearly(a, lambda x: -x if isinstance(x, int | float) else f"not {x}"),
        "another digit in front": lambda a: _nearly(a, lambda x: f"1{x}"),
    }


def _indifferent_cell(cell: Cell) -> dict[str, tuple[float, bool] | None]:
    """For each rewriting, the outcome; None where it changes nothing."""
    env_id, d, seed = cell
    env = environment(env_id)
    play(env, ReferenceAgent(), seed, d)
    actions = [step["canonical"] for step in env.episode.steps]
    budget = env.episode.axes.tool_budget
    harmful = _harmful(env, seed, d)
    outcomes: dict[str, tuple[float, bool] | None] = {}
    for how in (*HARMLESS, *harmful):
        copies = [json.loads(json.dumps(action)) for action in actions]
        changed = [HARMLESS[how](a, budget) if how in HARMLESS else harmful[how](a) for a in copies]
        outcomes[how] = None if changed == actions else _rerun(env, seed, d, changed)
    return outcomes


def _rerun(env: Environment, seed: int, d: int, actions: Sequence[Action]) -> tuple[float, bool]:
    env.reset(seed=seed, options={"difficulty": d})
    info: dict[str, Any] = {}
    for action in actions:
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            break
    reward = info.get("reward")
    return (reward.task, reward.correct) if reward else (math.nan, False)


def indifferent(engine: SearchEngine, cells: Sequence[Cell], workers: int, progress: bool) -> LawResult:
    """Law 8: another form of the same actions scores the same; what is nearly right never passes."""
    outcomes = each(_indifferent_cell, cells, engine, workers=workers, label="law 8", progress=progress)
    rows = []
    harmful = [how for how in outcomes[0] if how not in HARMLESS]
    for how in HARMLESS:
        found = [one for outcome in outcomes if (one := outcome[how]) is not None]
        same = sum(one == (1.0, True) for one in found)
        rows.append({"check": f"harmless: {how}", "cases": len(found), "as before": same,
                     "passed": same == len(found)})  # fmt: skip
    for how in harmful:
        found = [one for outcome in outcomes if (one := outcome[how]) is not None]
        passed = sum(correct for _, correct in found)
        rows.append({"check": f"harmful: {how}", "cases": len(found), "as before": passed, "passed": passed == 0})
    failed = [row["check"] for row in rows if not row["passed"]]
    summary = f"{len(HARMLESS)} harmless and {len(harmful)} harmful rewritings of {len(cells)} reference runs"
    return LawResult(8, "indifferent", not failed, summary + (f"; failed: {failed[0]}" if failed else ""), rows)
