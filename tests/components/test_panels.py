from __future__ import annotations

import json
from typing import Any

from components import panels, play, views
from components.session import ENVIRONMENTS

PANELS = {"orders": panels.orders, "returns": panels.returns, "pages": panels.help_pages, "profile": panels.profile}


def call(session: Any, name: str, **args: Any) -> dict[str, Any]:
    """Take a turn with one call; returns its result."""
    session.act({"tool_calls": [{"name": name, "args": args}]}, session.version)
    return session.episode.turns[-1].calls[0]["result"]


def test_an_environment_shows_the_panels_that_its_tools_fill(session: Any) -> None:
    shown = {}
    for env_id in ENVIRONMENTS:
        session.start(env_id, 0, 1)
        assert len(play.show(session)) == len(play.OUTPUTS)
        shown[env_id] = {name for name, panel in PANELS.items() if not panel(session.episode)["hidden"]}
        if not views.cart(session.episode)["hidden"]:
            shown[env_id].add("cart")
        if not views.cards(session.episode)["hidden"]:
            shown[env_id].add("cards")
    assert shown == {
        "E_CART": {"cart", "cards"},
        "E_PD": {"cards"},
        "E_SUB": {"cards"},
        "E_RETURN": {"orders", "returns", "pages", "profile", "cards"},
        "E_STATUS": {"orders"},
        "E_POLICY": {"orders", "pages", "profile"},
        "E_BUNDLE": {"cards"},
        "E_JOURNEY": {"orders", "returns", "pages", "profile", "cart", "cards"},
    }


def test_before_the_first_episode_every_panel_is_hidden_and_empty() -> None:
    for panel in PANELS.values():
        value = panel(None)
        assert value["hidden"]
        assert not any(value.get(name) for name in ("orders", "made", "checks", "pages", "facts"))


def test_orders_are_what_the_newest_call_returned(session: Any) -> None:
    session.start("E_STATUS", 4, 7)
    assert panels.orders(session.episode)["orders"] == []
    listed = call(session, "order_list")["orders"]
    cards = panels.orders(session.episode)["orders"]
    assert [card["order_id"] for card in cards] == [order["order_id"] for order in listed]
    assert [len(card["lines"]) for card in cards] == [len(order["lines"]) for order in listed]
    assert not any(card["events"] for card in cards)
    tracked = call(session, "order_track", order_id=listed[3]["order_id"])
    first, *others = panels.orders(session.episode)["orders"]
    assert first["order_id"] == listed[3]["order_id"]
    assert [event["date"] for event in first["events"]] == [event["date"] for event in tracked["events"]]
    # What tracking does not tell is still there from the list, and the other orders keep their places.
    assert first["total"] == listed[3]["total"]
    assert [line["line_id"] for line in first["lines"]] == [line["line_id"] for line in listed[3]["lines"]]
    assert ["promised", tracked["promised"]] in first["dates"]
    assert [card["order_id"] for card in others] == [o["order_id"] for o in listed if o is not listed[3]]
    assert first["tone"] in ("good", "bad", "warn", "way")
    assert panels.orders(session.episode)["selects"]
    assert not panels.orders(session.episode)["selects_lines"]
    assert panels.orders(session.episode)["usable"] == ["order_id"]


def test_a_refused_call_shows_nothing(session: Any) -> None:
    session.start("E_RETURN", 4, 7)
    for name in ("order_get", "return_check_eligibility"):
        args = {"order_id": "o1", "line_id": "l1"} if name.startswith("return") else {"order_id": "o1"}
        assert "error" in call(session, name, **args)
    assert panels.orders(session.episode)["orders"] == []
    assert panels.returns(session.episode)["checks"] == []


def _returnable(session: Any) -> tuple[str, str, str]:
    """Order, line and reason of something that may go back."""
    page = 1
    while True:
        found = call(session, "order_list", page=page, status="delivered")
        for order in found["orders"]:
            for line in order["lines"]:
                checked = call(session, "return_check_eligibility", order_id=order["order_id"], line_id=line["line_id"])
                if checked["returnable"]:
                    return order["order_id"], line["line_id"], checked["reasons"][0]
        page += 1


def test_returns_are_listed_and_struck_out_when_cancelled(session: Any) -> None:
    session.start("E_RETURN", 12, 3)
    order, line, reason = _returnable(session)
    checks = panels.returns(session.episode)["checks"]
    assert (checks[0]["line_id"], checks[0]["returnable"]) == (line, True)
    assert reason.replace("_", " ") in checks[0]["reasons"]
    made = call(session, "return_initiate", order_id=order, line_id=line, reason=reason, method="store_credit")
    assert session.episode.running
    (one,) = panels.returns(session.episode)["made"]
    assert (one["return_id"], one["cancelled"], one["method"]) == (made["return_id"], False, "store credit")
    assert one["refund"] == made["refund"]
    call(session, "return_cancel", return_id=made["return_id"])
    (one,) = panels.returns(session.episode)["made"]
    assert one["cancelled"]
    assert one["refund"] == made["refund"]
    assert panels.returns(session.episode)["titles"][line]


def test_a_help_page_loses_no_word(session: Any) -> None:
    session.start("E_POLICY", 9, 5)
    found = call(session, "policy_search", query="return", limit=20)["policies"]
    pages = panels.help_pages(session.episode)["pages"]
    assert [page["policy_id"] for page in pages] == [policy["policy_id"] for policy in found]
    for page, policy in zip(pages, found, strict=True):
        shown = [page["title"], *(f"{part['mark']} {part['text']}".strip() for part in page["parts"])]
        written = [line.strip() for line in policy["text"].split("\n") if line.strip()]
        assert [line.replace("• ", "- ") for line in shown] == written
        assert any(part["kind"] == "rule" for part in page["parts"])
    call(session, "policy_get", policy_id=found[-1]["policy_id"])
    assert panels.help_pages(session.episode)["pages"][0]["policy_id"] == found[-1]["policy_id"]


def test_the_parts_of_a_page() -> None:
    lines = ["Fees", "What it costs.", "", "Exceptions", "1. If so, $3.", "- Where not, $5.", "The first decides."]
    text = "\n".join([*lines, "", "-", "2024 was long ago"])
    assert [(part["kind"], part["mark"]) for part in panels.page_parts(text, "Fees")] == [
        ("paragraph", ""), ("heading", ""), ("rule", "1."), ("rule", "•"), ("paragraph", ""), ("paragraph", ""),
        ("paragraph", ""),
    ]  # fmt: skip
    assert panels.page_parts("", "Fees") == []


def test_the_profile_is_what_the_tool_returned(session: Any) -> None:
    session.start("E_POLICY", 3, 5)
    assert panels.profile(session.episode)["facts"] == []
    shown = call(session, "user_get_profile")
    assert dict(panels.profile(session.episode)["facts"])["tier"] == shown["tier"]


def test_panels_are_plain_json(session: Any) -> None:
    for env_id in ENVIRONMENTS:
        session.start(env_id, 3, 5)
        tools = {tool["function"]["name"] for tool in session.episode.observation.tools}
        for name in sorted(tools & {"order_list", "user_get_profile"}):
            call(session, name)
        json.dumps([panel(session.episode) for panel in PANELS.values()], allow_nan=False)
