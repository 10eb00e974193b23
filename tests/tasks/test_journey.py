"""E_JOURNEY: several intents over one shop, what they may share, and what disturbs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from scipy.stats import chisquare

from ecomrlve.agents.base import play
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.difficulty import difficulty
from ecomrlve.environment import Environment
from ecomrlve.episode import Episode
from ecomrlve.shop.policies import METHODS, REASONS
from ecomrlve.tasks.base import OMISSION, OPTIONAL, SELLOUT, SWITCH, Part, Problem, generate
from ecomrlve.tasks.journey import INTENTS, TURNS_TO_COME_BACK, JourneyTask, intents_wanted

TASK = JourneyTask()
LEVELS = (0, 3, 6, 9, 12)
ANSWER = {"answer": {"done": True}}
QUIET: dict[str, float] = {"omission": 0.0, "switching": 0.0, "sellout": 0.0}


def draw(engine: Any, seed: int, d: int, **overrides: float) -> Problem:
    return generate(TASK, engine, difficulty(d, overrides), ("E_JOURNEY", seed))


@pytest.fixture(scope="module")
def problems(words_engine: Any) -> list[tuple[int, Problem]]:
    return [(d, draw(words_engine, seed, d)) for d in LEVELS for seed in range(40)]


def kinds(problem: Problem) -> list[str]:
    return [part.task.env_id for part in problem.parts]


# --- what is drawn ---------------------------------------------------------------------------------------------------


def test_a_journey_has_the_number_of_intents_that_the_contract_says(problems: list[tuple[int, Problem]]):
    assert [intents_wanted(d) for d in range(13)] == [2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5]
    for d, problem in problems:
        assert len(problem.parts) == intents_wanted(d)
        assert len(set(kinds(problem))) == len(problem.parts)
        assert tuple(kinds(problem)) == problem.goal.kinds


def test_all_kinds_occur_about_equally_often_in_every_place(words_engine: Any):
    drawn = [kinds(draw(words_engine, seed, 0)) for seed in range(350)]
    for place in (0, 1):
        counts = Counter(found[place] for found in drawn)
        assert chisquare([counts[task.env_id] for task in INTENTS]).pvalue > 1e-4


def test_all_intents_play_in_one_and_the_same_world(problems: list[tuple[int, Problem]]):
    for _, problem in problems:
        assert all(part.problem.world is problem.world for part in problem.parts)
        assert problem.slots == []
        assert problem.persona.style == problem.parts[0].problem.persona.style
        assert len({part.problem.persona.style for part in problem.parts}) == 1


def test_every_intent_fits_its_share_of_the_turns(problems: list[tuple[int, Problem]]):
    for d, problem in problems:
        axes = difficulty(d)
        for part in problem.parts:
            # Coming back to it takes turns of its own.
            assert part.problem.plan.turns + TURNS_TO_COME_BACK * part.interrupted <= axes.turn_budget
            assert part.problem.plan.calls <= axes.tool_budget
        if SELLOUT in problem.dropped:
            assert problem.world.stock.rate == 0
        else:
            assert problem.world.stock.rate == axes.sellout
        assert set(problem.dropped) <= {SELLOUT, SWITCH, OMISSION, OPTIONAL}
        assert len(set(problem.dropped)) == len(problem.dropped)


def test_the_last_intent_is_never_interrupted_and_the_others_as_often_as_the_axis_says(words_engine: Any):
    for d, switching in ((8, 0.0), (8, 0.5), (8, 1.0)):
        found = [draw(words_engine, seed, d, switching=switching) for seed in range(40)]
        assert not any(problem.parts[-1].interrupted for problem in found)
        others = [part.interrupted for problem in found for part in problem.parts[:-1]]
        assert sum(others) <= len(others) * switching + 20 * (switching == 0.5)
        assert sum(others) >= 0.4 * len(others) * switching


def test_an_intent_without_turns_to_come_back_is_not_interrupted_and_only_that_counts_as_dropped(words_engine: Any):
    tight = 0
    for seed in range(40):
        problem = draw(words_engine, seed, 8, switching=1.0)
        axes = difficulty(8, {"switching": 1.0})
        room = [part.problem.plan.turns + TURNS_TO_COME_BACK <= axes.turn_budget for part in problem.parts[:-1]]
        assert [part.interrupted for part in problem.parts[:-1]] == room
        own = any(SWITCH in part.problem.dropped for part in problem.parts)
        assert (SWITCH in problem.dropped) == (own or not all(room))
        tight += not all(room)
    assert 0 < tight < 40


def test_the_visit_history_belongs_to_the_cart_or_to_nobody(problems: list[tuple[int, Problem]]):
    for _, problem in problems:
        world = problem.world
        carts = [part for part in problem.parts if part.task.env_id == "E_CART"]
        if not carts:
            assert len(world.history) == 8
            continue
        (cart,) = carts
        rows = {item.row for item in cart.problem.goal}
        assert rows <= set(world.history)
        assert len(world.history) > len(rows)


def test_the_history_of_a_journey_without_a_cart_tells_nothing_of_the_goal(words_engine: Any):
    hits = rows = 0
    for seed in range(60):
        problem = draw(words_engine, seed, 8)
        for part in problem.parts:
            if part.task.env_id == "E_SUB" and "E_CART" not in kinds(problem):
                hits += part.problem.goal.original in problem.world.history
                rows += 1
    assert rows > 10
    assert hits <= 1


def test_the_accounts_orders_hold_what_status_and_return_are_about(problems: list[tuple[int, Problem]]):
    for d, problem in problems:
        orders = problem.world.orders.orders
        assert len(orders) == difficulty(d).order_history
        for part in problem.parts:
            if part.task.env_id in ("E_STATUS", "E_RETURN"):
                assert part.problem.goal.order in orders


def test_the_same_seed_gives_the_same_journey_and_another_seed_another(words_engine: Any):
    def state(problem: Problem) -> str:
        slots = [[slot.public() for slot in part.problem.slots] for part in problem.parts]
        return str((kinds(problem), [part.interrupted for part in problem.parts], slots, problem.world.history))

    found = [state(draw(words_engine, seed, 6)) for seed in range(20)]
    assert found == [state(draw(words_engine, seed, 6)) for seed in range(20)]
    assert len(set(found)) == 20


# --- playing it ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("d", "overrides"),
    [(0, {}), (3, {"switching": 1.0}), (6, {}), (6, {"switching": 1.0}), (9, {"omission": 1.0}), (12, {})],
)
def test_the_reference_agent_gets_exactly_one(words_engine: Any, d: int, overrides: dict[str, float]):
    for seed in range(8):
        env = Environment(("E_JOURNEY",), words_engine)
        reward = play(env, ReferenceAgent(), 100 + seed, d, overrides)
        assert reward.task == 1.0, reward.reason
        assert reward.correct
        assert reward.parts["strays"] == 0
        assert reward.parts["right"] == len(env.episode.problem.parts)
        assert [intent["env_id"] for intent in reward.parts["intents"]] == kinds(env.episode.problem)
        assert env.episode.turn <= env.episode.turn_budget


class Spoiler:
    """The reference agent with somebody who changes the world before each of its turns."""

    name = "spoiler"

    def __init__(self, spoil: Callable[[Episode], None]):
        self.reference = ReferenceAgent()
        self.spoil = spoil

    def reset(self, env: Environment) -> None:
        self.env = env
        self.reference.reset(env)

    def act(self, observation: Any) -> Any:
        action = self.reference.act(observation)
        self.spoil(self.env.episode)
        return action


def journeys(engine: Any, wanted: Callable[[Problem], bool], d: int, count: int = 3, **over: float) -> Iterator[int]:
    """Seeds of journeys of a certain kind."""
    seeds = (seed for seed in range(200) if wanted(draw(engine, seed, d, **over)))
    found = [seed for seed, _ in zip(seeds, range(count), strict=False)]
    assert len(found) == count
    yield from found


def without(*names: str) -> Callable[[Problem], bool]:
    return lambda problem: not set(kinds(problem)) & set(names)


def with_all(*names: str) -> Callable[[Problem], bool]:
    return lambda problem: set(names) <= set(kinds(problem))


@pytest.mark.parametrize("strays", [0, 1, 2, 3, 8, 20])
def test_each_stray_cart_line_costs_a_quarter_whatever_is_in_it(words_engine: Any, strays: int):
    for seed in journeys(words_engine, without("E_CART"), 4):

        def spoil(episode: Episode) -> None:
            episode.world.cart.lines = {(row, None): 1 + row % 5 for row in range(strays)}

        reward = play(Environment(("E_JOURNEY",), words_engine), Spoiler(spoil), seed, 4)
        assert reward.task == max(-1.0, 1.0 - 0.25 * strays)
        assert reward.correct == (strays == 0)
        assert reward.parts["strays"] == strays
        assert ("belong to no wish" in reward.reason) == (strays > 0)


@pytest.mark.parametrize("strays", [1, 2])
def test_each_stray_transaction_costs_a_quarter(words_engine: Any, strays: int):
    tried = 0
    for seed in journeys(words_engine, without("E_RETURN"), 6, 6):

        def spoil(episode: Episode) -> None:
            returns = episode.world.returns
            for order in episode.world.orders.orders:
                for line in order.lines:
                    if len(returns.active) < strays and returns.eligible(order, line, REASONS[0]):
                        returns.initiate(order, line, REASONS[0], METHODS[0])

        env = Environment(("E_JOURNEY",), words_engine)
        reward = play(env, Spoiler(spoil), seed, 6)
        made = len(env.episode.world.returns.active)
        assert reward.task == pytest.approx(1.0 - 0.25 * made, abs=1e-12)
        assert reward.correct == (made == 0)
        tried += made == strays
    assert tried >= 2


def test_a_stray_line_beside_the_cart_that_was_wanted_costs_both_times(words_engine: Any):
    """Once as a wrong unit of the cart, once as a line that belongs to nothing."""
    for seed in journeys(words_engine, with_all("E_CART"), 4, 2, **QUIET):
        env = Environment(("E_JOURNEY",), words_engine)

        def spoil(episode: Episode) -> None:
            if not episode.intents.unanswered or len(episode.intents.all) - episode.intents.raised > 0:
                return
            cart = next(intent for intent in episode.intents.all if intent.task.env_id == "E_CART")
            wanted = cart.task.required(cart.problem, cart.ledger)  # type: ignore[attr-defined]
            row = next(r for r in range(100) if all(r != line[0] for line in wanted))
            episode.world.cart.lines = dict(wanted) | {(row, None): 1}

        reward = play(env, Spoiler(spoil), seed, 4, QUIET)
        intents = reward.parts["intents"]
        cart = next(intent for intent in intents if intent["env_id"] == "E_CART")
        assert cart["task"] < 1.0
        assert reward.parts["strays"] == 1
        mean = sum(intent["task"] for intent in intents) / len(intents)
        assert reward.task == pytest.approx(max(-1.0, mean - 0.25), abs=1e-12)


def start(engine: Any, seed: int, d: int, **overrides: float) -> Environment:
    env = Environment(("E_JOURNEY",), engine)
    env.reset(seed=seed, options={"difficulty": d, "overrides": overrides})
    return env


def named(episode: Episode, line: tuple[int, int | None]) -> dict[str, str]:
    world = episode.world
    found = {"product_id": world.product_id(line[0])}
    return found if line[1] is None else found | {"variant_id": world.variant_id(*line)}


def cart_first(problem: Problem) -> bool:
    return kinds(problem)[0] == "E_CART"


def test_the_cart_is_judged_as_it_is_at_the_end(words_engine: Any):
    for seed in journeys(words_engine, cart_first, 4, 4, **QUIET):
        for then, expected in (("nothing", 1.0), ("spoil", -1.0), ("spoil and mend", 1.0)):
            env = start(words_engine, seed, 4, **QUIET, tool_budget=8)
            episode = env.episode
            intent = episode.intents.all[0]
            lines = intent.task.required(intent.problem, intent.ledger)  # type: ignore[attr-defined]
            adding = [
                {"name": "cart_add", "args": named(episode, line) | {"qty": units}} for line, units in lines.items()
            ]
            env.step({"tool_calls": adding, **ANSWER})
            assert intent.answer is not None
            removing = [{"name": "cart_remove", "args": named(episode, line)} for line in lines]
            if then != "nothing":
                env.step({"tool_calls": removing})
            if then == "spoil and mend":
                env.step({"tool_calls": adding})
            while not episode.over:
                env.step(ANSWER)
            assert episode.reward is not None
            found = episode.reward.parts["intents"][0]
            assert (found["task"], found["correct"]) == (expected, expected == 1.0), then
            assert episode.reward.parts["strays"] == 0


def test_a_return_is_judged_by_what_stands_at_the_end(words_engine: Any):
    def wanted(problem: Problem) -> bool:
        first = problem.parts[0]
        return first.task.env_id == "E_RETURN" and first.problem.goal.decision == "return" and (
            first.problem.goal.wish == "refund"
        )  # fmt: skip

    for seed in journeys(words_engine, wanted, 4, 2, **QUIET):
        for cancelled in (False, True):
            env = start(words_engine, seed, 4, **QUIET)
            episode = env.episode
            goal, orders = episode.problem.parts[0].problem.goal, episode.world.orders
            ids = {"order_id": orders.order_id(goal.order.number), "line_id": orders.line_id(goal.line.number)}
            args = ids | {"reason": goal.reason, "method": goal.method}
            answer = {f"selected_{key}": value for key, value in ids.items()} | {"return_decision": "return"}
            env.step({"tool_calls": [{"name": "return_initiate", "args": args}], "answer": answer})
            (number,) = episode.world.returns.active
            if cancelled:
                back = {"return_id": episode.world.returns.return_id(number)}
                env.step({"tool_calls": [{"name": "return_cancel", "args": back}]})
            while not episode.over:
                env.step(ANSWER)
            assert episode.reward is not None
            assert episode.reward.parts["intents"][0]["correct"] is not cancelled
            # A return of the line that an intent is about is no stray.
            assert episode.reward.parts["strays"] == 0


def test_a_cart_to_fill_and_a_return_to_make_do_not_disturb_each_other(words_engine: Any):
    def wanted(problem: Problem) -> bool:
        return with_all("E_CART", "E_RETURN")(problem) and any(
            part.task.env_id == "E_RETURN" and part.problem.goal.eligible for part in problem.parts
        )

    for seed in journeys(words_engine, wanted, 8, 4):
        env = Environment(("E_JOURNEY",), words_engine)
        reward = play(env, ReferenceAgent(), seed, 8)
        assert (reward.task, reward.correct) == (1.0, True), reward.reason
        assert env.episode.world.cart.lines
        assert len(env.episode.world.returns.active) == 1


def test_an_intent_that_was_never_answered_counts_minus_one(words_engine: Any):
    for seed in range(6):
        env = start(words_engine, seed, 8, **QUIET)
        episode = env.episode
        for _ in range(2):
            env.step(ANSWER)
        for _ in range(3):
            _, _, terminated, _, info = env.step({"assistant_message": "One moment, please."})
        assert terminated
        reward = info["reward"]
        answered = [intent["answered"] for intent in reward.parts["intents"]]
        assert answered == [True, True, False, False]
        assert [intent["task"] for intent in reward.parts["intents"]][2:] == [-1.0, -1.0]
        assert reward.reason.count("never answered") == 2
        assert reward.task <= 0.0
        assert not reward.correct
        assert reward.parts["right"] <= 2
        mean = sum(intent["task"] for intent in reward.parts["intents"]) / len(episode.problem.parts)
        assert reward.task == pytest.approx(max(-1.0, mean), abs=1e-12)


def test_a_right_cart_without_an_answer_counts_minus_one(words_engine: Any):
    for seed in journeys(words_engine, cart_first, 4, 2, **QUIET):
        env = start(words_engine, seed, 4, **QUIET, tool_budget=8)
        episode = env.episode
        intent = episode.intents.all[0]
        for line, units in intent.task.required(intent.problem, intent.ledger).items():  # type: ignore[attr-defined]
            episode.world.cart.lines[line] = units
        while not episode.over:
            env.step({"tool_calls": [{"name": "datetime_now", "args": {}}]})
        assert episode.reward is not None
        assert episode.reward.task == -1.0


def test_answering_nothing_at_once_is_no_success(words_engine: Any):
    scores = []
    for seed in range(40):
        env = start(words_engine, seed, 6)
        while not env.episode.over:
            env.step(ANSWER)
        assert env.episode.reward is not None
        assert not env.episode.reward.correct
        scores.append(env.episode.reward.task)
    assert sum(scores) / len(scores) < -0.6


def verdicts(problem: Problem, scores: list[float | None]) -> list[tuple[Part, Any, Any]]:
    """Parts with verdicts of these scores; None for one that was never answered."""
    found = []
    for part, score in zip(problem.parts, scores, strict=True):
        real = part.task.verify(part.problem, part.problem.ledger(), {}, difficulty(4))
        made = None if score is None else type(real)(score, score == 1.0, {}, "Fine.", [{"x": 1}])
        found.append((part, part.problem.ledger(), made))
    return found


@pytest.mark.parametrize("count_d", [(2, 0), (3, 4), (4, 8), (5, 12)])
def test_the_score_is_the_mean_and_exactly_one_for_all_right(words_engine: Any, count_d: tuple[int, int]):
    count, d = count_d
    problem = draw(words_engine, 3, d)
    perfect = TASK.judge(problem, verdicts(problem, [1.0] * count))
    assert perfect.task == 1.0
    assert perfect.correct
    # Each entry of what was done says which intent it belongs to.
    assert [entry["intent"] for entry in perfect.done] == kinds(problem)
    for place in range(count):
        scores: list[float | None] = [1.0] * count
        scores[place] = None
        verdict = TASK.judge(problem, verdicts(problem, scores))
        assert verdict.task == pytest.approx((count - 2) / count, abs=1e-12)
        assert not verdict.correct
        scores[place] = 0.9
        verdict = TASK.judge(problem, verdicts(problem, scores))
        assert verdict.task == pytest.approx((count - 0.1) / count, abs=1e-12)
        assert not verdict.correct
    assert TASK.judge(problem, verdicts(problem, [None] * count)).task == -1.0


def test_a_bad_score_with_many_strays_stays_in_bounds(words_engine: Any):
    problem = draw(words_engine, 1, 4)
    problem.world.cart.lines = {(row, None): 1 for row in range(90)}
    assert TASK.judge(problem, verdicts(problem, [None, -1.0, 0.0])).task == -1.0


def test_a_journey_offers_the_tools_and_the_answer_fields_of_all_intents():
    assert set(TASK.tools) == {name for task in INTENTS for name in task.tools}
    assert len(set(TASK.tools)) == len(TASK.tools)
    fields = set(TASK.answer.model_fields)
    assert fields == {name for task in INTENTS for name in task.answer.model_fields}
    assert {task.env_id for task in INTENTS} == {
        "E_PD", "E_SUB", "E_CART", "E_RETURN", "E_STATUS", "E_POLICY", "E_BUNDLE",
    }  # fmt: skip
