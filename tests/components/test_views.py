from __future__ import annotations

import json
from typing import Any

import pytest

from components import play, views
from components.session import ENVIRONMENTS
from ecomrlve.collections import TASKS

SEARCH = {"name": "catalog_search", "args": {"query": "mug", "limit": 4}}


def call(session: Any, name: str, args: dict[str, Any]) -> dict[str, Any]:
    """Take a turn with one call; returns its result."""
    session.act({"tool_calls": [{"name": name, "args": args}]}, session.version)
    return session.episode.turns[-1].calls[0]["result"]


def shop_ids(world: Any) -> set[str]:
    """All ids that the shop of an episode could give out."""
    orders = world.orders.orders
    lines = {world.orders.line_id(line.number) for order in orders for line in order.lines}
    products = {world.product_id(row) for row in range(len(world.catalog))}
    pages = {world.policies.policy_id(page) for page in world.policies.pages}
    return products | lines | pages | {world.orders.order_id(order.number) for order in orders}


@pytest.mark.parametrize(("env_id", "guided"), [*((env_id, False) for env_id in ENVIRONMENTS), ("E_CART", True)])
def test_nothing_of_the_goal_is_in_any_value_before_the_end(session: Any, env_id: str, guided: bool) -> None:
    session.start(env_id, 6, 5, guided=guided)
    episode = session.episode
    ids = shop_ids(episode.environment.episode.world)

    def shown() -> str:
        """What the panels show; the conversation is what the customer and the tools said."""
        values = dict(zip(play.OUTPUTS, play.show(session), strict=True))
        text = json.dumps({name: value for name, value in values.items() if name != "chat"}, default=str)
        for word in ("ledger", "trajectory", "omitted", "feasible", "reveal"):
            assert word not in text
        return text

    before = shown()
    assert not any(identifier in before for identifier in ids)
    tools = [tool["function"]["name"] for tool in episode.observation.tools]
    calls = [{"name": "order_list", "args": {}}, {"name": "policy_search", "args": {"query": "return"}}, SEARCH]
    session.act({"tool_calls": [call for call in calls if call["name"] in tools], "assistant_message": "Hello?"}, 1)
    returned = json.dumps([call["result"] for call in episode.turns[0].calls])
    after = shown()
    assert {identifier for identifier in ids if identifier in after} == {i for i in ids if i in returned}


def test_every_environment_has_a_name_and_a_sentence() -> None:
    assert set(ENVIRONMENTS) == set(TASKS) == set(views.TASKS)
    assert next(iter(ENVIRONMENTS)) == "E_CART"
    assert all(label.endswith(f"({env_id})") for env_id, label in ENVIRONMENTS.items())


def test_the_meters_count_the_turn_that_is_about_to_be_taken(session: Any) -> None:
    session.start("E_CART", 6, 5)
    assert views.meters(session.episode, 1)["turn"] == 1
    assert views.meters(session.episode, 1)["turn_budget"] == 7
    assert not views.meters(session.episode, 1)["show_list"]
    call(session, "cart_view", {})
    assert views.meters(session.episode, 2)["turn"] == 2
    session.act("{broken", 2)
    value = views.meters(session.episode, 3)
    assert (value["turn"], value["status"]) == (2, "finished")


def test_markup_in_the_conversation_is_escaped(session: Any) -> None:
    session.start("E_CART", 0, 1)
    session.act({"assistant_message": "<img src=x>", "tool_calls": [{"name": "catalog_get_product",
                "args": {"product_id": "<b>"}}]}, 1)  # fmt: skip
    text = json.dumps(views.conversation(session.episode))
    assert "<" not in text
    assert "&lt;img src=x&gt;" in text


def test_a_refused_call_says_why_in_its_title(session: Any) -> None:
    session.start("E_CART", 0, 1)
    result = call(session, "catalog_get_product", {"product_id": "nothing"})
    thought = views.conversation(session.episode)[1]
    assert "refused" in thought["metadata"]["title"]
    assert views.error_of(result) in thought["metadata"]["title"].replace("&#x27;", "'")


def test_cards_are_newest_first_and_know_their_variants(session: Any) -> None:
    session.start("E_CART", 6, 5)
    first = [hit["id"] for hit in call(session, "catalog_search", {"query": "mug", "limit": 3})["results"]]
    second = [hit["id"] for hit in call(session, "user_get_visit_history", {"limit": 3})["products"]]
    assert [card["product_id"] for card in views.cards(session.episode)["cards"]] == [*second, *first]
    variants = call(session, "catalog_get_variants", {"product_id": first[2]})["variants"]
    top = views.cards(session.episode)["cards"][0]
    assert top["product_id"] == first[2]
    assert [variant["variant_id"] for variant in top["variants"]] == [entry["variant_id"] for entry in variants]
    assert top["price"] > 0
    assert top["attributes"]


def test_the_cart_shows_only_what_a_cart_tool_returned(session: Any) -> None:
    session.start("E_CART", 0, 3)
    assert not views.cart(session.episode)["known"]
    hit = call(session, "user_get_visit_history", {})["products"][0]
    assert not views.cart(session.episode)["known"]
    added = call(session, "cart_add", {"product_id": hit["id"], "qty": 2})
    value = views.cart(session.episode)
    if "error" in added:  # it comes in variants
        assert not value["known"]
    else:
        assert [(line["product_id"], line["qty"]) for line in value["lines"]] == [(hit["id"], 2)]
    session.start("E_PD", 0, 3)
    assert views.cart(session.episode)["hidden"]


def test_the_form_leaves_out_what_the_desk_does(session: Any) -> None:
    session.start("E_PD", 0, 3)
    names = [tool["function"]["name"] for tool in views.tool_form(session.episode)["tools"]]
    assert "catalog_search" in names
    assert not views.NOT_IN_FORM & set(names)
    (kind,) = views.desk(session.episode, 1)["kinds"]
    assert [(entry["name"], entry["type"]) for entry in kind["fields"]] == [("recommended_product_ids", "array")]
    assert kind["most"] == session.episode.observation.list_size


def test_fields_whose_values_are_listed_are_choices(session: Any) -> None:
    session.start("E_STATUS", 0, 3)
    fields = {field["name"]: field for field in views.desk(session.episode, 1)["kinds"][0]["fields"]}
    assert "out_for_delivery" in fields["order_status"]["choices"]
    assert fields["eta"]["choices"] == []
    session.start("E_RETURN", 0, 3)
    fields = {field["name"]: field for field in views.desk(session.episode, 1)["kinds"][0]["fields"]}
    assert fields["return_decision"]["choices"] == ["return", "exchange", "not_eligible"]
    # Where the description no longer lists them, whatever is wanted can be typed.
    assert views._choices("return_decision", {"description": "What was done: refund or nothing."}) == []
    assert views._choices("anything", {"enum": ["a", "b"]}) == ["a", "b"]


def test_a_journey_offers_the_fields_of_every_kind_of_wish(session: Any) -> None:
    session.start("E_JOURNEY", 4, 3)
    kinds = {
        kind["id"]: [field["name"] for field in kind["fields"]] for kind in views.desk(session.episode, 1)["kinds"]
    }
    assert list(kinds) == [env_id for env_id in ENVIRONMENTS if env_id != "E_JOURNEY"]
    for env_id, names in kinds.items():
        session.start(env_id, 4, 3)
        assert [field["name"] for field in views.desk(session.episode, 1)["kinds"][0]["fields"]] == names
    # Nothing tells which wishes this journey holds.
    first, second = [], []
    for seed, found in ((3, first), (4, second)):
        session.start("E_JOURNEY", 4, seed)
        found.extend(views.desk(session.episode, 1)["kinds"])
    assert first == second


def test_a_journey_shows_the_turns_left_for_the_present_wish(session: Any) -> None:
    session.start("E_JOURNEY", 4, 3)
    value = views.meters(session.episode, 1)
    assert value["wish_turns"] == session.episode.observation.intent_turns_left == 6
    assert value["turn_budget"] == 18
    session.act({"assistant_message": "Hello?"}, 1)
    assert views.meters(session.episode, 2)["wish_turns"] == 5
    session.start("E_PD", 4, 3)
    assert views.meters(session.episode, 1)["wish_turns"] is None


def test_similarity_stands_on_the_card(session: Any) -> None:
    session.start("E_SUB", 4, 7)
    hit = call(session, "catalog_search", {"query": "mug", "limit": 1})["results"][0]
    assert views.cards(session.episode)["cards"][0]["similarity"] is None
    found = call(session, "catalog_similar", {"product_id": hit["id"], "limit": 3})["results"]
    cards = {card["product_id"]: card for card in views.cards(session.episode)["cards"]}
    assert [cards[other["id"]]["similarity"] for other in found] == [other["similarity"] for other in found]


def test_recent_calls_are_the_last_different_ones(session: Any) -> None:
    session.start("E_CART", 6, 5)
    assert views.desk(session.episode, 1)["recent"] == []
    for word in ("mug", "lamp", "mug", "hat", "bag", "shoe"):
        call(session, "catalog_search", {"query": word})
    recent = views.desk(session.episode, 7)["recent"]
    assert [entry["args"]["query"] for entry in recent] == ["shoe", "bag", "hat", "mug"]
    assert set(recent[0]) == {"name", "args"}


def test_the_desk_says_what_a_turn_costs(session: Any) -> None:
    session.start("E_CART", 6, 5)
    value = views.desk(session.episode, 1)
    assert (value["turns_left"], value["wish_turns_left"]) == (7, None)
    session.start("E_JOURNEY", 4, 3)
    call(session, "cart_view", {})
    value = views.desk(session.episode, 2)
    assert (value["turns_left"], value["wish_turns_left"]) == (17, 5)


def test_hints_follow_the_episode_and_end_with_it(session: Any) -> None:
    session.start("E_CART", 6, 5)
    assert any("take one turn" in hint for hint in views.desk(session.episode, 1)["hints"])
    call(session, "catalog_get_product", {"product_id": "nothing"})
    assert any("refused call" in hint for hint in views.desk(session.episode, 2)["hints"])
    session.act("{broken", 2)
    assert views.desk(session.episode, 3)["hints"] == []
