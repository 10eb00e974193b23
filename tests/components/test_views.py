from __future__ import annotations

import json
from typing import Any

from components import play, views

SEARCH = {"name": "catalog_search", "args": {"query": "mug", "limit": 4}}


def call(session: Any, name: str, args: dict[str, Any]) -> dict[str, Any]:
    """Take a turn with one call; returns its result."""
    session.act({"tool_calls": [{"name": name, "args": args}]}, session.version)
    return session.episode.turns[-1].calls[0]["result"]


def test_nothing_of_the_goal_is_in_any_value_before_the_end(session: Any) -> None:
    for env_id in ("E_CART", "E_PD"):
        session.start(env_id, 6, 5)
        world = session.episode.environment.episode.world
        shown = json.dumps(play.show(session), default=str)
        ids = {world.product_id(row) for row in range(len(world.catalog))}
        assert not any(identifier in shown for identifier in ids)
        for word in ("goal", "ledger", "trajectory", "omitted", "feasible"):
            assert word not in shown
        session.act({"tool_calls": [SEARCH], "assistant_message": "Hello?"}, session.version)
        returned = {hit["id"] for hit in session.episode.turns[0].calls[0]["result"]["results"]}
        shown = json.dumps(play.show(session), default=str)
        assert {identifier for identifier in ids if identifier in shown} == returned


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
    fields = views.desk(session.episode, 1)["answer_fields"]
    assert [(entry["name"], entry["type"]) for entry in fields] == [("recommended_product_ids", "array")]
