"""Law 4, no leak: nothing an agent receives depends on the hidden goal beyond what the customer said."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.catalog.filters import satisfied
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.customer.ledger import Slot
from ecomrlve.difficulty import difficulty
from ecomrlve.episode import Episode
from ecomrlve.evaluation.essence import subjects
from ecomrlve.evaluation.laws import Cell, LawResult
from ecomrlve.evaluation.pool import current_engine, each, environment
from ecomrlve.shop.world import World
from ecomrlve.streams import Stream, key_of
from ecomrlve.tasks.base import Problem, generate
from ecomrlve.tasks.discovery import constraint_of, feasible_rows
from ecomrlve.tools import REGISTRY

DIFFICULTIES = (0, 6, 12)
GOALS = 3  # goals compared in one world
MOST_PARTNERS = 4  # other goals looked at
ALLOWANCE = 0.02  # how much better than chance a classifier may pick targets
FOLDS = 5
MOST_SEEDS = 10  # per difficulty, for the checks that build several worlds each
OBSERVED = {
    "messages", "turn", "turns_left", "intent_turns_left", "tool_budget", "search_depth", "list_size", "today",
    "env_id", "tools", "answer_fields",
}  # fmt: skip


# --- the same world under other goals --------------------------------------------------------------------------------


def _probe(cell: Cell) -> tuple[int, int]:
    """What a battery of tool calls returns in the world of a seed under three goals: (comparable, identical)."""
    env_id, d, seed = cell
    task = environment(env_id).task_of(env_id)
    texts: dict[float, set[str]] = {}
    for goal in range(GOALS):
        problem = generate(task, current_engine(), difficulty(d), (env_id, seed), salt=(goal,) if goal else ())
        world = problem.world
        # The budget law may drop sell-outs, or variants, for one goal and not for another, and no observation says so:
        # such worlds differ by what the law did, and are compared only among themselves.
        kind = world.stock.rate + 10 * world.setting.variant_share
        texts.setdefault(kind, set()).add(json.dumps(_battery(world, task.tools, seed), sort_keys=True))
    return len(texts), sum(len(found) == 1 for found in texts.values())


def _battery(world: World, tools: Sequence[str], seed: int) -> list[Any]:
    results = []
    for turn in range(2):
        calls = [call for number in range(4) for call in _calls(world, tools, seed, turn, number)]
        results += [_run(world, name, args) for name, args in calls]
        world.stock.end_turn()
    return results


def _run(world: World, name: str, args: dict[str, Any]) -> dict[str, Any]:
    return REGISTRY[name].call(world, REGISTRY[name].validate(args))


def _calls(world: World, tools: Sequence[str], seed: int, turn: int, number: int) -> list[tuple[str, dict[str, Any]]]:
    """Calls that know nothing of the goal, of the tools offered. The visit history is E_CART's own subject."""
    stream = Stream("probe", seed, number)
    kind = stream.choice(world.catalog.type_names)
    product = world.product_id(Stream("rows", seed, turn, number).integer(len(world.catalog)))
    offered: list[tuple[str, dict[str, Any]]] = [
        ("catalog_search", {"query": kind, "limit": 12}),
        ("catalog_search", {"query": kind, "filters": {"type": kind, "in_stock": True}, "sort": "price_asc"}),
        ("catalog_get_product", {"product_id": product}),
        ("catalog_get_variants", {"product_id": product}),
        ("catalog_similar", {"product_id": product, "limit": 12}),
        ("cart_view", {}),
        ("order_list", {"page": 1 + number}),
        ("user_get_profile", {}),
        ("policy_search", {"query": stream.choice(("returns", "delivery", "refund", "gift", "fee")), "limit": 20}),
    ]
    if "order_list" in tools:
        order = stream.choice(world.orders.orders)
        ids = {"order_id": world.orders.order_id(order.number)}
        line = {"line_id": world.orders.line_id(stream.choice(order.lines).number)}
        offered += [("order_get", ids), ("order_track", ids), ("return_check_eligibility", ids | line)]
    return [(name, args) for name, args in offered if name in tools]


# --- pairs that differ in what is not said yet -----------------------------------------------------------------------


def _silent_pair(cell: Cell) -> bool | None:
    """Play two episodes that differ only in what the opening leaves out, in silence; None if there is no such pair.

    Everything must be identical until the customer's words differ.
    """
    env_id, d, seed = cell
    pair = _pair(env_id, d, seed)
    if pair is None:
        return None
    one, other = pair
    first, second = one.first_observation(), other.first_observation()
    if first.to_json() != second.to_json():
        return False
    for turn in range(one.turn_budget):
        calls = [
            {"name": name, "args": args}
            for number in range(one.axes.tool_budget)
            for name, args in _calls(one.world, one.task.tools, seed, turn, number)
        ][: one.axes.tool_budget]
        found = [episode.step({"tool_calls": calls}) for episode in (one, other)]
        words = [[m["content"] for m in seen.messages if m["role"] == "customer"] for seen in found]
        results = [[m for m in seen.messages if m["role"] == "tool"] for seen in found]
        if json.dumps(results[0]) != json.dumps(results[1]):
            return False
        if words[0] != words[1] or one.over or other.over:
            return True
        if found[0].to_json() != found[1].to_json():
            return False
    return True


def _pair(env_id: str, d: int, seed: int) -> tuple[Episode, Episode] | None:
    """Two episodes that differ in the value of one thing that the opening leaves out; None where it says all."""
    task, engine, axes = environment(env_id).task_of(env_id), current_engine(), difficulty(d)
    one, other = Episode(task, engine, axes, seed), Episode(task, engine, axes, seed)
    intent = one.intents.current
    omitted = [intent.ledger.slots[key] for key in sorted(intent.problem.omitted)]
    for slot in omitted:
        value = intent.task.change(intent.problem, slot, axes, Stream("pair", seed, slot.key))
        if value is not None:
            return one, _unlike(one, other, slot, value)
    if env_id not in UNCHANGING:
        return None
    # Where nobody changes its mind, what another goal has in the place of something that is not said yet.
    for salt in range(1, MOST_PARTNERS):
        partner = {slot.key: slot for slot in generate(task, engine, axes, (env_id, seed), (salt,)).slots}
        for slot in omitted:
            if slot.key in partner and partner[slot.key].value != slot.value:
                return one, _unlike(one, other, slot, partner[slot.key].value)
    return None


def _unlike(one: Episode, other: Episode, slot: Slot, value: Any) -> Episode:
    """The other episode with another value in a slot, and no change of mind about it in either."""
    other.ledger.slots[slot.key] = replace(slot, value=value)
    for episode in (one, other):
        episode.ledger.pending.pop(slot.key, None)
    return other


# --- what tells a target ---------------------------------------------------------------------------------------------

UNCHANGING = ("E_RETURN", "E_STATUS", "E_POLICY")  # where the customer never changes its mind
LISTS = ("E_PD", "E_SUB", "E_BUNDLE")
Entry = tuple[int, dict[str, float]]  # whether it is a target; what could tell


def _candidates(cell: Cell) -> tuple[str, list[Entry]]:
    """What an agent sees before it knows anything: each candidate, whether it is a target, and what could tell.

    The group's name is what it is about (a product type), where that is known to all: what the catalog holds may be
    learned by heart, and is no leak, so a type's groups are either all learned from or all picked from. Elsewhere it is
    the seed: the episodes of one seed at several difficulties share draws, and ids.

    Prices, ratings and dates are what requirements speak of, so that they tell by themselves what people tend to want;
    they are features only where nothing is required of them (E_CART).
    """
    env_id, d, seed = cell
    env = environment(env_id)
    env.reset(seed=seed, options={"difficulty": d})
    problem = env.episode.problem
    name = "/".join(sorted(subjects(env_id, problem))) if env_id in LISTS else str(seed)
    return name, _CANDIDATES[env_id](problem)


def _number(identifier: str) -> float:
    return int.from_bytes(identifier.encode()[-7:], "big") % 99_991


def _hits(problem: Problem, targets: set[int], hits: Sequence[dict[str, Any]], *, prices: bool) -> list[Entry]:
    world = problem.world
    ranks = sorted(hit["price"] for hit in hits)
    entries = []
    for place, hit in enumerate(hits):
        row = world.product_ids.decode(hit["id"])
        assert row is not None
        features = {
            "position": place / max(1, len(hits) - 1),
            "id": _number(hit["id"]),
            "stock": float(hit["stock"]),
            "title length": float(len(hit["title"])),
            "text length": float(len(json.dumps(hit, ensure_ascii=False)) - len(hit["title"])),
            "has variants": float(hit.get("has_variants", False)),
        }
        if prices:
            variants = world.variants_of(row)
            features |= {
                "price rank": ranks.index(hit["price"]) / max(1, len(hits) - 1),
                "rating": float(hit.get("rating") or 0.0),
                "variant stock": float(np.mean([v.stock for v in variants] or [0])),
            }
        entries.append((int(row in targets), features))
    return entries


def _cart_history(problem: Problem) -> list[Entry]:
    targets = {item.row for item in problem.goal}
    hits = _run(problem.world, "user_get_visit_history", {"limit": 100})["products"]
    return _hits(problem, targets, hits, prices=True)


def _type_hits(problem: Problem, kind: str, targets: set[int]) -> list[Entry]:
    args = {"query": kind, "filters": {"type": kind, "in_stock": True}, "limit": 200}
    hits = [hit for hit in _run(problem.world, "catalog_search", args)["results"] if hit["type"] == kind]
    return _hits(problem, targets, hits, prices=False)


def _listed(problem: Problem) -> list[Entry]:
    constraints = [constraint_of(slot) for slot in problem.slots if slot.kind == "constraint"]
    feasible = problem.goal.rows[feasible_rows(problem.world.catalog, problem.goal, constraints)]
    return _type_hits(problem, problem.goal.type, {int(row) for row in feasible})


def _orders(problem: Problem) -> list[Entry]:
    world = problem.world
    entries = []
    for place, order in enumerate(world.orders.orders):
        features = {
            "position": place / max(1, len(world.orders.orders) - 1),
            "id": _number(world.orders.order_id(order.number)),
            "lines": float(len(order.lines)),
            "total": order.total,
            "units": float(order.quantity),
        }
        entries.append((int(order is problem.goal.order), features))
    return entries


def _lines(problem: Problem) -> list[Entry]:
    world, goal = problem.world, problem.goal
    kind = world.catalog.type_of(goal.line.row)
    entries = []
    for order in world.orders.orders:
        for place, line in enumerate(order.lines):
            if order.delivered is not None and world.catalog.type_of(line.row) == kind:
                features = {
                    "place in order": float(place),
                    "lines": float(len(order.lines)),
                    "id": _number(world.orders.line_id(line.number)),
                    "quantity": float(line.quantity),
                    "title length": float(len(world.catalog.titles[line.row])),
                }
                entries.append((int(line.number == goal.line.number), features))
    return entries


def _pages(problem: Problem) -> list[Entry]:
    world = problem.world
    found = _run(world, "policy_search", {"query": "help", "limit": 20})["policies"]
    wanted = world.policies.policy_id(world.policies.page(problem.goal.question.topic))
    return [
        (
            int(page["policy_id"] == wanted),
            {"position": float(place), "id": _number(page["policy_id"]), "length": float(len(page["text"]))},
        )
        for place, page in enumerate(found)
    ]


def _parts(problem: Problem) -> list[Entry]:
    """The products of the first part's type; the targets are those that meet its requirements."""
    slot = next(slot for slot in problem.slots if slot.kind == "part")
    rows = problem.world.catalog.rows_of_type(str(slot.value))
    alive = problem.world.stock.lasting_rows(rows)
    for other in problem.slots:
        if other.kind == "constraint" and other.item == slot.item:
            alive = alive & satisfied(problem.world.catalog, rows, constraint_of(other))
    return _type_hits(problem, str(slot.value), {int(row) for row in rows[alive]})


_CANDIDATES: dict[str, Callable[[Problem], list[Entry]]] = {
    "E_CART": _cart_history,
    "E_PD": _listed,
    "E_SUB": _listed,
    "E_RETURN": _lines,
    "E_STATUS": _orders,
    "E_POLICY": _pages,
    "E_BUNDLE": _parts,
}


def picked(groups: Sequence[tuple[str, Sequence[Entry]]]) -> tuple[float, float, float]:
    """How often gradient boosting picks a target as the likeliest of each group.

    It is trained on groups of other names (five folds), and picks one candidate of every group.

    Args:
        groups: Name and candidates of one episode each.

    Returns:
        Its rate, the rate of a random pick, and the standard error of their difference.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    useful = [(name, group) for name, group in groups if 0 < sum(label for label, _ in group) < len(group)]
    features = list(useful[0][1][0][1])
    tables = [np.array([[found[name] for name in features] for _, found in group]) for _, group in useful]
    labels = [np.array([label for label, _ in group]) for _, group in useful]
    folds = np.array([key_of("fold", name) % FOLDS for name, _ in useful])
    hits = np.zeros(len(useful))
    # Small tables: threads would only wait for each other.
    with threadpool_limits(1):
        for fold in range(FOLDS):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            model = HistGradientBoostingClassifier(max_iter=60, max_leaf_nodes=15, random_state=0, early_stopping=False)
            model.fit(np.concatenate([tables[n] for n in train]), np.concatenate([labels[n] for n in train]))
            for number in test:
                chances = model.predict_proba(tables[number])[:, 1]
                hits[number] = labels[number][chances == chances.max()].mean()
    chance = np.array([label.mean() for label in labels])
    error = float(np.std(hits - chance, ddof=1) / math.sqrt(len(useful)))
    return float(hits.mean()), float(chance.mean()), error


# --- observations ----------------------------------------------------------------------------------------------------


def _clean_cell(cell: Cell) -> bool:
    """Whether observations and info hold nothing but what the contract lists, in a whole reference episode."""
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


def no_leak(engine: SearchEngine, envs: Sequence[str], seeds: Sequence[int], workers: int, progress: bool) -> LawResult:
    """Law 4: other goals leave the shop as it is, silence tells nothing, and no feature of a candidate tells a target.

    Args:
        engine: The engine to play on.
        envs: Environments.
        seeds: Seeds; the classifier takes five times as many.
        workers: Processes.
        progress: Whether to show bars.
    """
    rows: list[dict[str, Any]] = []

    def run(function: Callable[[Cell], Any], envs: Sequence[str], seeds: Sequence[int]) -> dict[str, list[Any]]:
        # All environments at once: every start of the workers loads the encoder anew.
        cells = [(env_id, d, seed) for env_id in envs for d in DIFFICULTIES for seed in seeds]
        found = each(function, cells, engine, workers=workers, label="law 4", progress=progress)
        return {env: [one for cell, one in zip(cells, found, strict=True) if cell[0] == env] for env in envs}

    probes, silent = run(_probe, envs, seeds[:MOST_SEEDS]), run(_silent_pair, envs, seeds[:MOST_SEEDS])
    clean = run(_clean_cell, envs, seeds[:5])
    more = [*seeds, *(max(seeds) + 1 + number for number in range(4 * len(seeds)))]
    candidates = run(_candidates, [env_id for env_id in envs if env_id in _CANDIDATES], more)
    for env_id in envs:
        compared, same = sum(n for n, _ in probes[env_id]), sum(n for _, n in probes[env_id])
        rows.append({"check": f"{env_id}: tool results do not depend on the goal", "cases": compared, "value": same,
                     "passed": same == compared})  # fmt: skip
        pairs = [found for found in silent[env_id] if found is not None]
        rows.append({"check": f"{env_id}: silent pairs of goals look the same until the customer speaks",
                     "cases": len(pairs), "value": sum(pairs), "passed": all(pairs)})  # fmt: skip
        rows.append(
            {
                "check": f"{env_id}: observations and info hold nothing but what the contract lists",
                "cases": len(clean[env_id]),
                "value": sum(clean[env_id]),
                "passed": all(clean[env_id]),
            }
        )
        if env_id in candidates:
            rate, chance, error = picked(candidates[env_id])
            rows.append({"check": f"{env_id}: gradient boosting picks a target (chance {chance:.1%} ± {error:.1%})",
                         "cases": len(candidates[env_id]), "value": f"{rate:.1%}",
                         "passed": rate - 2.33 * error <= chance + ALLOWANCE})  # fmt: skip
    failed = [row["check"] for row in rows if not row["passed"]]
    summary = f"{len(rows)} checks, {len(failed)} failed" + (f": {failed[0]}" if failed else "")
    return LawResult(4, "no leak", not failed, summary, rows)
