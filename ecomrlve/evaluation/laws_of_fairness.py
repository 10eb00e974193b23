"""Laws 4, 6, 7 and 8: no leak, recoverable, bounded, indifferent."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from ecomrlve.agents.base import play
from ecomrlve.agents.baselines import RandomAgent
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.customer.noise import add_noise
from ecomrlve.difficulty import difficulty
from ecomrlve.environment import Environment
from ecomrlve.episode import Episode
from ecomrlve.evaluation.laws import Cell, LawResult
from ecomrlve.evaluation.pool import current_engine, each, environment
from ecomrlve.streams import Stream
from ecomrlve.tasks.base import generate
from ecomrlve.tools import REGISTRY

FIRST_PAGE = 10
RECOVERED = 0.95
OBSERVED = {
    "messages", "turn", "turns_left", "tool_budget", "search_depth", "list_size", "today", "env_id", "tools",
    "answer_fields",
}  # fmt: skip


# --- 4. no leak ------------------------------------------------------------------------------------------------------


def _probe(cell: Cell) -> list[str]:
    """What a battery of tool calls returns in the world of a seed, under three different goals."""
    env_id, d, seed = cell
    engine = current_engine()
    environment(env_id)
    texts = []
    for goal in range(3):
        task = environment(env_id).task_of(env_id)
        problem = generate(task, engine, difficulty(d), (env_id, seed), salt=(goal,) if goal else ())
        texts.append(json.dumps(_battery(problem.world, seed), sort_keys=True))
    return texts


def _battery(world: Any, seed: int) -> list[Any]:
    stream = Stream("probe", seed)
    types = stream.sample(world.catalog.type_names, 3)
    results = []
    for turn in range(2):
        for name in types:
            for args in (
                {"query": name, "limit": 12},
                {"query": name, "filters": {"type": name, "in_stock": True}, "limit": 12, "sort": "price_asc"},
            ):
                results.append(REGISTRY["catalog_search"].call(world, REGISTRY["catalog_search"].validate(args)))
        for number in range(6):
            row = Stream("rows", seed, turn, number).integer(len(world.catalog))
            for tool in ("catalog_get_product", "catalog_get_variants"):
                results.append(REGISTRY[tool].call(world, {"product_id": world.product_id(row)}))
        world.stock.end_turn()
    return results


def _history_features(cell: Cell) -> list[tuple[int, dict[str, float]]]:
    """For E_CART: each product of the visit history, whether it is a target, and all that could tell."""
    env_id, d, seed = cell
    env = environment(env_id)
    env.reset(seed=seed, options={"difficulty": d})
    world = env.episode.world
    targets = {item.row for item in env.episode.problem.goal}
    hits = REGISTRY["user_get_visit_history"].call(world, {"limit": 100})["products"]
    prices = sorted(hit["price"] for hit in hits)
    found = []
    for place, (row, hit) in enumerate(zip(world.history, hits, strict=True)):
        features = {
            "position": place / max(1, len(hits) - 1),
            "id": sum(map(ord, hit["id"])) + int.from_bytes(hit["id"].encode(), "big") % 997,
            "stock": hit["stock"],
            "price rank": prices.index(hit["price"]) / max(1, len(hits) - 1),
            "title length": len(hit["title"]),
            "rating": hit.get("rating", 0.0),
            "has variants": float(hit.get("has_variants", False)),
            "variant stock": float(np.mean([v.stock for v in world.variants_of(row)] or [0])),
        }
        found.append((int(row in targets), features))
    return found


def no_leak(engine: SearchEngine, envs: Sequence[str], seeds: Sequence[int], workers: int, progress: bool) -> LawResult:
    """Law 4: with the goal exchanged, the same calls return the same bytes; nothing in the history tells a target."""
    rows: list[dict[str, Any]] = []
    for env_id in envs:
        cells = [(env_id, d, seed) for d in (0, 6, 12) for seed in seeds]
        probes = each(_probe, cells, engine, workers=workers, label="law 4", progress=progress)
        # The budget law may set sell-outs to 0 for one goal and not for another, and says so in no observation; such
        # episodes are compared only where it did the same.
        same = sum(len(set(texts)) == 1 for texts in probes)
        rows.append({"check": f"{env_id}: tool results do not depend on the goal", "cases": len(cells), "value": same,
                     "passed": same == len(cells)})  # fmt: skip
    for env_id in envs:
        cells = [(env_id, d, seed) for d in (0, 6, 12) for seed in seeds[:20]]
        clean = each(_clean_cell, cells, engine, workers=workers, label="law 4", progress=progress)
        rows.append({"check": f"{env_id}: observations and info hold nothing but what the contract lists",
                     "cases": len(cells), "value": sum(clean), "passed": all(clean)})  # fmt: skip
    if "E_CART" in envs:
        cells = [("E_CART", d, seed) for d in (0, 3, 6, 12) for seed in seeds]
        entries = [e for found in each(_history_features, cells, engine, workers=workers, label="law 4",
                                       progress=progress) for e in found]  # fmt: skip
        rows += _separation(entries)
    failed = [row["check"] for row in rows if not row["passed"]]
    summary = f"{len(rows)} checks, {len(failed)} failed" + (f": {failed[0]}" if failed else "")
    return LawResult(4, "no leak", not failed, summary, rows)


def _separation(entries: Sequence[tuple[int, dict[str, float]]]) -> list[dict[str, Any]]:
    """Area under the ROC curve of each feature as a guess at the targets: a half, within four standard errors."""
    labels = np.array([label for label, _ in entries])
    positives, negatives = int(labels.sum()), int((1 - labels).sum())
    error = math.sqrt((positives + negatives + 1) / (12 * positives * negatives))
    rows = []
    for name in entries[0][1]:
        values = np.array([features[name] for _, features in entries], float)
        order = np.argsort(values, kind="stable")
        ranks = np.empty(len(values))
        ranks[order] = np.arange(1, len(values) + 1)
        for value in np.unique(values):
            ranks[values == value] = ranks[values == value].mean()
        area = (ranks[labels == 1].sum() - positives * (positives + 1) / 2) / (positives * negatives)
        rows.append({"check": f"E_CART history: targets by {name} (AUC)", "cases": len(entries),
                     "value": round(float(area), 4), "passed": bool(abs(area - 0.5) <= 4 * error)})  # fmt: skip
    return rows


def _clean_cell(cell: Cell) -> bool:
    env_id, d, seed = cell
    env = environment(env_id)
    observation, _ = env.reset(seed=seed, options={"difficulty": d})
    agent = ReferenceAgent()
    agent.reset(env)
    while True:
        if set(observation.to_dict()) != OBSERVED:
            return False
        observation, reward, terminated, truncated, info = env.step(agent.act(observation))
        if terminated or truncated:
            return set(info) == {"reward"}
        if info or reward:
            return False


# --- 6. recoverable --------------------------------------------------------------------------------------------------


def _recover_cell(cell: Cell) -> list[bool]:
    env_id, d, seed = cell
    env = environment(env_id)
    env.reset(seed=seed, options={"difficulty": d})
    episode = env.episode
    return _recover_cart(episode, seed) if env_id == "E_CART" else _recover_discovery(episode, seed)


def _first_page(episode: Episode, query: str, filters: dict[str, Any]) -> list[str]:
    args = {"query": query, "filters": filters, "limit": FIRST_PAGE}
    result = REGISTRY["catalog_search"].call(episode.world, REGISTRY["catalog_search"].validate(args))
    return [hit["id"] for hit in result["results"]]


def _recover_cart(episode: Episode, seed: int) -> list[bool]:
    world = episode.world
    found = []
    for index, item in enumerate(episode.problem.goal):
        title = world.catalog.titles[item.row]
        marks = [s for s in episode.problem.slots if s.kind == "identify" and s.item == index]
        filters = {slot.attribute: {"eq": slot.value} for slot in marks}
        noisy = add_noise(title, episode.axes.noise, Stream("wording", seed, index))
        longer = " ".join(word for word in noisy.split() if len(word) > 4)
        pages = [_first_page(episode, noisy, filters), _first_page(episode, longer, filters)]
        found.append(any(world.product_id(item.row) in page for page in pages))
    return found


def _recover_discovery(episode: Episode, seed: int) -> list[bool]:
    goal, world = episode.problem.goal, episode.world
    filters: dict[str, Any] = {"in_stock": True}
    for slot in episode.problem.slots:
        if slot.kind == "constraint":
            filters[slot.attribute] = {slot.operator: slot.value}
    feasible = set(episode.task.reveal(episode.problem, episode.ledger)["best"])
    everything = {hit["product_id"] for hit in episode.task.reveal(episode.problem, episode.ledger)["feasible"]}
    noisy = add_noise(goal.type, episode.axes.noise, Stream("wording", seed))
    for row in goal.rows:  # everything that sells out has done so by the time of the last search
        world.show(int(row))
    world.stock.end_turn()
    pages = [_first_page(episode, noisy, filters), _first_page(episode, noisy, {**filters, "type": goal.type})]
    return [any(len(everything & set(page)) >= len(feasible) for page in pages)]


def recoverable(engine: SearchEngine, cells: Sequence[Cell], workers: int, progress: bool) -> LawResult:
    """Law 6: what the customer names in noisy words is found on the first page, in one of two searches."""
    outcomes = each(_recover_cell, cells, engine, workers=workers, label="law 6", progress=progress)
    grouped: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for (env_id, d, _), found in zip(cells, outcomes, strict=True):
        grouped[env_id, d] += found
    rows = []
    for (env_id, d), found in sorted(grouped.items()):
        share = sum(found) / len(found)
        # At few episodes the share is noisy: fail only where 95 % is out of reach at 99 % confidence.
        slack = 2.33 * math.sqrt(RECOVERED * (1 - RECOVERED) / len(found)) if len(found) < 200 else 0.0
        rows.append({"env": env_id, "d": d, "named": len(found), "found": f"{share:.1%}",
                     "passed": share >= RECOVERED - slack})  # fmt: skip
    worst = min(sum(found) / len(found) for found in grouped.values())
    summary = f"found on the first page of ten: at least {worst:.1%} at every (environment, d)"
    return LawResult(6, "recoverable", all(row["passed"] for row in rows), summary, rows)


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


def _rewritten(action: dict[str, Any], how: str, budget: int) -> dict[str, Any]:
    """The same action in another form."""
    action = json.loads(json.dumps(action))
    calls = action.get("tool_calls", [])
    if how == "letter case and spaces":
        for call in calls:
            for key in ("product_id", "variant_id"):
                if key in call["args"]:
                    call["args"][key] = f"  {call['args'][key].upper()} "
        ids = action.get("answer", {}).get("recommended_product_ids")
        if ids:
            action["answer"]["recommended_product_ids"] = [f" {i.upper()}" for i in ids]
    elif how == "prices as text":
        for call in calls:
            price = (call["args"].get("filters") or {}).get("price")
            if isinstance(price, dict):
                call["args"]["filters"]["price"] = {op: f"${value:.2f}" for op, value in price.items()}
    elif how == "cart operations reversed":
        cart = [c for c in calls if c["name"].startswith("cart_")]
        action["tool_calls"] = [c for c in calls if c not in cart] + cart[::-1]
    elif how == "extra reads" and len(calls) < budget and "tool_calls" in action:
        action["tool_calls"] = [*calls, {"name": "datetime_now", "args": {}}]
    elif how == "lines split":
        split: list[dict[str, Any]] = []
        for call in calls:
            room = budget - len(calls) - len(split)
            if call["name"] == "cart_add" and call["args"].get("qty", 1) > 1 and room > 0:
                split.append({"name": "cart_add", "args": {**call["args"], "qty": 1}})
                call["args"]["qty"] -= 1
        action["tool_calls"] = calls + split
    elif how == "openai message":
        return _as_openai(action)
    return action


def _as_openai(action: dict[str, Any]) -> dict[str, Any]:
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


HARMLESS = (
    "letter case and spaces", "prices as text", "cart operations reversed", "extra reads", "lines split",
    "openai message",
)  # fmt: skip
HARMFUL = ("last character of every id dropped", "ids of the next seed", "half of the ids cut off")


def _indifferent_cell(cell: Cell) -> dict[str, tuple[float, bool]]:
    env_id, d, seed = cell
    env = environment(env_id)
    play(env, ReferenceAgent(), seed, d)
    actions = [step["canonical"] for step in env.episode.steps]
    budget = env.episode.axes.tool_budget
    outcomes = {}
    for how in HARMLESS:
        outcomes[how] = _rerun(env, seed, d, [_rewritten(action, how, budget) for action in actions])
    for how in HARMFUL:
        outcomes[how] = _rerun(env, seed, d, [_spoiled(env, action, how, seed, d) for action in actions])
    return outcomes


def _spoiled(env: Environment, action: dict[str, Any], how: str, seed: int, d: int) -> dict[str, Any]:
    other = Environment(env.env_ids, env.engine)
    other.reset(seed=seed + 1, options={"difficulty": d})
    world, foreign = env.episode.world, other.episode.world

    def spoil(identifier: str) -> str:
        if how.startswith("last"):
            return identifier[:-1]
        if how.startswith("half"):
            return identifier[: len(identifier) // 2]
        row = world.product_ids.decode(identifier)
        return foreign.product_id(row) if row is not None else identifier

    action = json.loads(json.dumps(action))
    for call in action.get("tool_calls", []):
        if call["name"].startswith("cart_") and "product_id" in call["args"]:
            call["args"]["product_id"] = spoil(call["args"]["product_id"])
    ids = action.get("answer", {}).get("recommended_product_ids")
    if ids:
        action["answer"]["recommended_product_ids"] = [spoil(i) for i in ids]
    return action


def _rerun(env: Environment, seed: int, d: int, actions: Sequence[dict[str, Any]]) -> tuple[float, bool]:
    env.reset(seed=seed, options={"difficulty": d})
    info: dict[str, Any] = {}
    for action in actions:
        _, _, terminated, truncated, info = env.step(action)
        if terminated or truncated:
            break
    reward = info.get("reward")
    return (reward.task, reward.correct) if reward else (math.nan, False)


def indifferent(engine: SearchEngine, cells: Sequence[Cell], workers: int, progress: bool) -> LawResult:
    """Law 8: another form of the same actions scores the same; nearly right ids never pass."""
    outcomes = each(_indifferent_cell, cells, engine, workers=workers, label="law 8", progress=progress)
    rows = []
    for how in HARMLESS:
        same = sum(found[how] == (1.0, True) for found in outcomes)
        rows.append({"check": f"harmless: {how}", "cases": len(outcomes), "as before": same,
                     "passed": same == len(outcomes)})  # fmt: skip
    for how in HARMFUL:
        passed = sum(found[how][1] or found[how][0] > 0 for found in outcomes)
        rows.append({"check": f"harmful: {how}", "cases": len(outcomes), "as before": passed, "passed": passed == 0})
    failed = [row["check"] for row in rows if not row["passed"]]
    summary = f"{len(HARMLESS)} harmless and {len(HARMFUL)} harmful rewritings of {len(cells)} reference runs"
    return LawResult(8, "indifferent", not failed, summary + (f"; failed: {failed[0]}" if failed else ""), rows)
