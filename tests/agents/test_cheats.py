"""The cheats of law 2: each runs everywhere, sees nothing hidden, and does what it claims."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ecomrlve.agents.cheats import CHEATS, MADE_FOR, PARTIAL_BY_DESIGN, Cheat, cheats_for, make_cheat
from ecomrlve.agents.cheats.base import kind_of, numbers_in
from ecomrlve.agents.cheats.bundles import parts_named
from ecomrlve.agents.cheats.lists import common_numbers
from ecomrlve.agents.cheats.policies import outcomes_of, page_values
from ecomrlve.collections import TASKS
from ecomrlve.environment import Environment
from ecomrlve.episode import Episode
from ecomrlve.rewards import Reward
from ecomrlve.shop.order_history import STATUSES

Played = Callable[..., Episode]


@pytest.fixture(scope="module")
def played(words_engine: Any) -> Played:
    """Plays a cheat to the end; at its reset it gets nothing but the seed."""
    environments = {env_id: Environment((env_id,), words_engine) for env_id in TASKS}

    def play(name: str, env_id: str, seed: int = 0, d: int = 6) -> Episode:
        env = environments[env_id]
        observation, _ = env.reset(seed=seed, options={"difficulty": d})
        agent = make_cheat(name)
        agent.reset(SimpleNamespace(episode=SimpleNamespace(seed=seed)))  # type: ignore[arg-type]
        while not env.episode.over:
            observation, *_ = env.step(agent.act(observation))
        return env.episode

    return play


def actions(episode: Episode) -> list[dict[str, Any]]:
    return [step["canonical"] for step in episode.steps]


def results(episode: Episode, name: str) -> list[dict[str, Any]]:
    """What a tool returned, refusals left out."""
    found = [one for step in episode.steps for one in step["tool_results"] if one["name"] == name]
    return [one["result"] for one in found if "error" not in one["result"]]


def answer(episode: Episode) -> dict[str, Any]:
    return next(action["answer"] for action in reversed(actions(episode)) if action and "answer" in action)


def reward(episode: Episode) -> Reward:
    assert episode.reward is not None
    return episode.reward


# --- all of them -----------------------------------------------------------------------------------------------------


def test_the_contract_s_cheats_are_there() -> None:
    assert {
        "empty_answer", "random_seen", "all_seen", "first_hits", "repeated_ids", "never_seen", "clock", "chatter",
        "at_once", "right_items_first_variant", "return_every_line", "never_eligible", "random_order_fixed_status",
        "random_order_true_status", "constant_answer", "cheapest_per_slot", "best_rated_per_slot", "best_of_each",
    } <= set(CHEATS)  # fmt: skip
    assert set(MADE_FOR) == set(CHEATS)
    assert set(PARTIAL_BY_DESIGN) <= set(CHEATS)


@pytest.mark.parametrize("name", sorted(CHEATS))
def test_each_says_what_it_does_and_taught(name: str) -> None:
    assert "Taught" in (CHEATS[name].__doc__ or "") or "floor" in (CHEATS[name].__doc__ or "")


def test_every_environment_has_many_cheats_of_its_own() -> None:
    for env_id in TASKS:
        own = [name for name in cheats_for(env_id) if MADE_FOR[name]]
        assert len(own) >= 5, env_id
        assert len(cheats_for(env_id)) >= 17


@pytest.mark.parametrize("env_id", sorted(set(TASKS) - {"E_JOURNEY"}))
@pytest.mark.parametrize(("d", "seed"), [(0, 0), (6, 1), (12, 2)])
def test_none_crashes_where_it_has_a_trick(played: Played, env_id: str, d: int, seed: int) -> None:
    for name in cheats_for(env_id):
        outcome = reward(played(name, env_id, seed, d))
        assert math.isfinite(outcome.task), name
        assert math.isfinite(outcome.total), name
        assert not outcome.reason.startswith("Invalid"), (name, outcome.reason)


@pytest.mark.parametrize(("d", "seeds"), [(0, (0, 1)), (12, (2,))])
def test_none_crashes_in_a_journey(played: Played, d: int, seeds: tuple[int, ...]) -> None:
    names = sorted(CHEATS) if d == 0 else cheats_for("E_JOURNEY")
    for number, name in enumerate(names):
        outcome = reward(played(name, "E_JOURNEY", seeds[number % len(seeds)], d))
        assert not outcome.reason.startswith("Invalid"), (name, outcome.reason)


def test_elsewhere_a_cheat_takes_the_first_hits(played: Played) -> None:
    for name, env_id in (("never_eligible", "E_PD"), ("base_value", "E_CART"), ("two_of_each", "E_BUNDLE")):
        assert actions(played(name, env_id)) == actions(played("first_hits", env_id))


@pytest.mark.parametrize("name", ["random_seen", "never_seen", "never_eligible", "random_outcome", "ask_about_each"])
def test_the_same_seed_gives_the_same_play(played: Played, name: str) -> None:
    env_id = (MADE_FOR[name] or ("E_PD",))[0]
    assert actions(played(name, env_id, 5)) == actions(played(name, env_id, 5))
    assert any(actions(played(name, env_id, 5)) != actions(played(name, env_id, seed)) for seed in (6, 7, 8))


# --- what cheats of all environments do ------------------------------------------------------------------------------


def test_every_value_names_all_statuses_and_fails(played: Played) -> None:
    episode = played("every_value", "E_STATUS", 3, 0)
    assert all(status in answer(episode)["order_status"] for status in STATUSES)
    assert reward(episode).task == -1


def test_everything_heard_searches_with_more_each_time(played: Played) -> None:
    episode = played("everything_heard", "E_PD", 1, 6)
    queries = [call["args"]["query"] for action in actions(episode) for call in action.get("tool_calls", [])]
    assert len(queries) >= 2
    assert len(set(queries)) == len(queries)


def test_never_seen_changes_nothing(played: Played) -> None:
    episode = played("never_seen", "E_RETURN", 1)
    assert results(episode, "return_initiate") == []
    assert episode.world.transactions() == ()


# --- carts -----------------------------------------------------------------------------------------------------------


def test_every_variant_is_in_the_cart(played: Played) -> None:
    episode = played("every_variant", "E_CART", 2, 3)
    lines = {(line["product_id"], line["variant_id"]) for line in episode.world.cart_lines()}
    full = [
        shown for shown in results(episode, "catalog_get_variants")
        if {(shown["product_id"], variant["variant_id"]) for variant in shown["variants"]} <= lines
    ]  # fmt: skip
    assert full


def test_two_of_each_are_in_the_cart(played: Played) -> None:
    lines = played("two_of_each", "E_CART", 1, 3).world.cart_lines()
    assert lines
    assert {line["qty"] for line in lines} == {2}


def test_the_cart_is_filled_and_emptied(played: Played) -> None:
    episode = played("add_and_remove", "E_CART", 1, 6)
    assert results(episode, "cart_add")
    assert results(episode, "cart_remove")


def test_variants_are_tried_until_the_customer_is_quiet(played: Played) -> None:
    swapped = [played("next_variant_until_quiet", "E_CART", seed, 6) for seed in range(6)]
    assert any(results(episode, "cart_remove") for episode in swapped)


# --- lists and bundles -----------------------------------------------------------------------------------------------


def test_numbers_of_an_opening_become_filters() -> None:
    found = common_numbers("a work light under $1,250, at least 4.2 stars, here in 3 days")
    assert found == {"price": {"le": 1250.0}, "rating": {"ge": 4.2}, "ship_days": {"le": 3}}
    assert common_numbers("a blue lamp with 3 arms") == {}


def test_best_rated_and_cheapest_of_the_type_are_first(played: Played) -> None:
    for name, field, sign in (("best_rated_of_type", "rating", -1), ("cheapest_of_type", "price", 1)):
        episode = played(name, "E_PD", 1, 6)
        hits = {hit["id"]: hit for page in results(episode, "catalog_search") for hit in page["results"]}
        given = [hits[i] for i in answer(episode)["recommended_product_ids"]]
        assert len(given) == episode.axes.list_size
        assert {hit["type"] for hit in given} == {episode.problem.goal.type}
        assert [sign * hit[field] for hit in given] == sorted(sign * hit[field] for hit in given)


def test_most_similar_compatible_recommends_compatible_products(played: Played) -> None:
    for seed in range(12):
        episode = played("most_similar_compatible", "E_SUB", seed, 3)
        goal, catalog = episode.problem.goal, episode.world.catalog
        rows = [episode.world.product_ids.decode(i) for i in answer(episode)["recommended_product_ids"]]
        if goal.compatible is None or goal.original not in episode.world.seen or not rows:
            continue
        if {catalog.type_of(row) for row in rows} == {goal.type}:
            values = {catalog.columns[goal.compatible].get(row) for row in rows}
            assert len(values) == 1
            return
    pytest.fail("no episode with a compatible substitute")


def test_what_is_blamed_is_not_shown_again(played: Played) -> None:
    changed = 0
    for seed in range(5):
        said = [action.get("assistant_message") for action in actions(played("drop_what_is_blamed", "E_PD", seed, 3))]
        changed += len({question for question in said if question}) > 1
    assert changed >= 2


def test_parts_are_read_from_a_list() -> None:
    words = "For a hobby workshop I need a screwdriver set, some wall paint, an e-reader and a whiteboard. As for the"
    assert parts_named(words)[-4:] == ["screwdriver set", "wall paint", "e-reader", "whiteboard"]


def _basket(episode: Episode) -> list[dict[str, Any]]:
    hits = {hit["id"]: hit for page in results(episode, "catalog_search") for hit in page["results"]}
    return [hits[i] for i in answer(episode)["recommended_product_ids"]]


def test_the_cheapest_of_each_part_is_recommended(played: Played) -> None:
    episode = played("cheapest_per_slot", "E_BUNDLE", 1, 3)
    basket = _basket(episode)
    assert len(basket) >= 3
    assert len({hit["type"] for hit in basket}) == len(basket)
    lasting = episode.world.stock.lasting_rows(episode.world.catalog.rows_of_type(basket[0]["type"]))
    rows = episode.world.catalog.rows_of_type(basket[0]["type"])[lasting]
    assert basket[0]["price"] <= min(float(episode.world.catalog.columns["price"].get(int(row))) for row in rows)
    assert reward(episode).parts["within_budget"]


def test_other_baskets_are_what_they_say(played: Played) -> None:
    cheapest = _basket(played("cheapest_per_slot", "E_BUNDLE", 1, 3))
    second = _basket(played("second_cheapest_per_slot", "E_BUNDLE", 1, 3))
    dearest = _basket(played("best_rated_per_slot", "E_BUNDLE", 1, 3))
    twice = _basket(played("two_per_slot", "E_BUNDLE", 1, 3))
    half = _basket(played("half_the_slots", "E_BUNDLE", 1, 3))
    assert sum(hit["price"] for hit in second) >= sum(hit["price"] for hit in cheapest)
    assert sum(hit["rating"] for hit in dearest) >= sum(hit["rating"] for hit in cheapest)
    assert len(twice) > len({hit["type"] for hit in twice})
    assert 0 < len(half) < len(cheapest)
    many = answer(played("one_product_many_times", "E_BUNDLE", 1, 3))["recommended_product_ids"]
    assert len(many) > 1 == len(set(many))


# --- orders ----------------------------------------------------------------------------------------------------------


def test_every_line_of_the_type_is_returned(played: Played) -> None:
    made = max((played("return_every_line", "E_RETURN", seed).world.transactions() for seed in range(8)), key=len)
    assert len(made) >= 2


def test_returns_are_cancelled_again(played: Played) -> None:
    for seed in range(8):
        episode = played("return_then_cancel", "E_RETURN", seed)
        if results(episode, "return_cancel"):
            assert episode.world.transactions() == ()
            assert answer(episode)["return_decision"] == "not_eligible"
            return
    pytest.fail("nothing was ever cancelled")


@pytest.mark.parametrize("name", ["exchange_for_cheapest", "exchange_for_best_rated", "exchange_for_most_similar"])
def test_something_is_exchanged(played: Played, name: str) -> None:
    kinds = [one.kind for seed in range(8) for one in played(name, "E_RETURN", seed).world.transactions()]
    assert kinds
    assert set(kinds) == {"exchange"}


def test_the_first_line_that_may_go_goes(played: Played) -> None:
    for name in ("first_that_may_go", "until_accepted"):
        counts = [len(played(name, "E_RETURN", seed).world.transactions()) for seed in range(8)]
        assert max(counts) == 1, name
    episode = next(e for e in (played("first_that_may_not_go", "E_RETURN", s) for s in range(8)) if _refused(e))
    assert answer(episode)["return_decision"] == "not_eligible"


def _refused(episode: Episode) -> bool:
    checks = results(episode, "return_check_eligibility")
    given = answer(episode)["selected_line_id"]
    return any(not check["returnable"] and check["line_id"] == given for check in checks)


def _lines(episode: Episode) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    orders = [order for page in results(episode, "order_list") for order in page["orders"]]
    return {line["line_id"]: (order, line) for order in orders for line in order["lines"]}


def test_lines_are_picked_by_age_and_by_what_went_back(played: Played) -> None:
    episode = played("oldest_not_eligible", "E_RETURN", 1)
    lines = _lines(episode)
    order, line = lines[answer(episode)["selected_line_id"]]
    same = [o["delivered"] for o, one in lines.values() if one["type"] == line["type"] and o["status"] == "delivered"]
    assert order["delivered"] == min(same)
    episodes = [played("returned_earlier", "E_RETURN", seed) for seed in range(6)]
    assert any(_lines(one)[answer(one)["selected_line_id"]][1].get("returned") for one in episodes)


def test_words_single_out_the_line_better_than_chance(played: Played) -> None:
    likened = sum(reward(played("titled_like_words", "E_RETURN", seed)).parts["selected"] for seed in range(20))
    guessed = sum(reward(played("never_eligible", "E_RETURN", seed)).parts["selected"] for seed in range(20))
    assert likened > guessed


def test_statuses_are_those_of_the_order_named(played: Played) -> None:
    for name in ("random_order_true_status", "newest_order", "order_on_its_way", "order_titled_like_opening"):
        episode = played(name, "E_STATUS", 2)
        orders = {order["order_id"]: order for page in results(episode, "order_list") for order in page["orders"]}
        given = answer(episode)
        assert given["order_status"] == orders[given["selected_order_id"]]["status"], name
        if name == "newest_order":
            assert orders[given["selected_order_id"]]["placed"] == max(order["placed"] for order in orders.values())
        if name == "order_on_its_way":
            assert given["order_status"] not in ("delivered", "cancelled", "returned")
    assert answer(played("random_order_fixed_status", "E_STATUS", 2))["order_status"] == "delivered"


def test_the_customer_is_asked_about_order_after_order(played: Played) -> None:
    asked = [action.get("assistant_message") for action in actions(played("ask_about_each", "E_STATUS", 2))]
    assert len({question for question in asked if question}) >= 2


# --- policies --------------------------------------------------------------------------------------------------------

PAGE = (
    "What returns cost\nHow it works.\nThe standard: the fee is $5.50.\n\nExceptions\n- The fee is $8 if the order is "
    "for 3 units or more.\n\nAdjustments\nThen the value found above changes by each of these that applies:\n"
    "- If you are a Gold member, subtract $1.\n- If the order comes to $80 or more, add $2."
)


def test_a_page_s_values_and_outcomes() -> None:
    assert page_values(PAGE) == [5.5, 8, 1, 2]
    assert outcomes_of(PAGE) == {8, 4.5, 7.5, 7, 10}
    assert numbers_in("$1,250.50 in 3 days, or 15%.") == [1250.5, 3, 15]


def _number(value: Any) -> float:
    return float(str(value))


def test_values_of_the_page_are_answered(played: Played) -> None:
    on_the_page = compared = larger = apart = 0
    for seed in range(12):
        episode = played("base_value", "E_POLICY", seed)
        question = episode.problem.goal.question
        if question.choices:
            continue
        page = episode.world.policies.page(question.topic)
        # The page that the opening finds first is not always the right one.
        on_the_page += _number(answer(episode)["policy_answer"]) == float(page.base)
        largest, smallest = (
            _number(answer(played(name, "E_POLICY", seed))["policy_answer"])
            for name in ("largest_value", "smallest_value")
        )
        assert smallest <= largest
        apart += smallest < largest
        for name in ("median_value", "random_value", "second_value", "last_value", "nearest_to_all"):
            value = _number(answer(played(name, "E_POLICY", seed))["policy_answer"])
            assert smallest <= value <= 2 * largest, name
        larger += _number(answer(played("all_adjustments", "E_POLICY", seed))["policy_answer"]) > largest
        compared += 1
    assert compared > 6
    assert min(on_the_page, apart) > compared / 2
    assert larger > 0
    assert answer(played("constant_answer", "E_POLICY", 1))["policy_answer"] == 30


def test_a_number_said_comes_back(played: Played) -> None:
    for seed in range(30):
        episode = played("echo_number", "E_POLICY", seed, 0)
        said = numbers_in(episode.opening.text)
        assert answer(episode)["policy_answer"] == (said[-1] if said else "")


def test_the_standard_fee_is_taken_off_what_was_paid(played: Played) -> None:
    for seed in range(60):
        episode = played("standard_money_back", "E_POLICY", seed, 0)
        question = episode.problem.goal.question
        if question.family == "money_back" and reward(episode).task > -1:
            base = episode.world.policies.page(question.topic).base
            exact = float(question.amount * (100 - base) / 100)
            assert _number(answer(episode)["policy_answer"]) == pytest.approx(exact, abs=0.01)
            return
    pytest.fail("no question about money that comes back")


def test_an_outcome_is_never_the_standard(played: Played) -> None:
    for seed in range(6):
        episode = played("random_outcome", "E_POLICY", seed, 3)
        page = episode.world.policies.page(episode.problem.goal.question.topic)
        if not page.choices and len(page.exceptions) > 0:
            assert _number(answer(episode)["policy_answer"]) != float(page.base)


# --- journeys --------------------------------------------------------------------------------------------------------


def test_wishes_are_told_apart_by_their_words() -> None:
    assert kind_of("Thanks! Next thing. How far along is my oder?") == "E_STATUS"
    assert kind_of("I need to sendd a nail polish set back to you.") == "E_RETURN"
    assert kind_of("The Jeqns are soldd out, can you find me something like them? It's sold out") == "E_SUB"
    assert kind_of("For a garden I need a garden hose, a watering can, a ladder and a tool box.") == "E_BUNDLE"
    assert kind_of("Add to my cart: the Velora Tent, 2 m, and the Ridge Lamp.") == "E_CART"
    assert kind_of("I'd like to know how many percent you keep as a fee.") == "E_POLICY"
    assert kind_of("Looking for a knife set from Tavola Nine.") == "E_PD"


def _filled(action: dict[str, Any]) -> bool:
    return any(value for name, value in action.get("answer", {}).items() if name != "done")


def test_a_journey_is_rushed_cut_short_or_left_open(played: Played) -> None:
    rushed = actions(played("rush_to_last", "E_JOURNEY", 1, 3))
    assert not any(_filled(action) or "tool_calls" in action for action in rushed[:2])
    assert any(_filled(action) or "tool_calls" in action for action in rushed[2:])
    unanswered = played("never_answer", "E_JOURNEY", 1, 3)
    assert not any("answer" in action for action in actions(unanswered))
    assert not reward(unanswered).correct
    first = played("only_the_first", "E_JOURNEY", 1, 3)
    assert not any("tool_calls" in action for action in actions(first)[first.axes.turn_budget + 1 :])


def test_a_cheat_starts_each_wish_afresh(words_engine: Any) -> None:
    env = Environment(("E_JOURNEY",), words_engine)
    observation, _ = env.reset(seed=3, options={"difficulty": 3})
    agent: Cheat = make_cheat("empty_answer")
    agent.reset(env)
    wishes = []
    while not env.episode.over:
        observation, *_ = env.step(agent.act(observation))
        wishes.append((agent.wishes, agent.turn))
    assert max(number for number, _ in wishes) == agent.expected == len(env.episode.intents.all)
    assert wishes[-1][1] < len(wishes)
