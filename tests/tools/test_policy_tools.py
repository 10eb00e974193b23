"""The help pages as agents read them."""

from __future__ import annotations

import pytest

from ecomrlve.shop.policies import Policies
from ecomrlve.tools import policy_tools  # noqa: F401 — importing it registers the tools


@pytest.fixture
def world(new_world):
    return new_world(4, d=6)


def test_search_shows_pages_in_full(world, call):
    result = call(world, "policy_search", query="return period")
    assert len(result["policies"]) == 3
    assert result["policies"][0]["title"] == world.policies.page("return_window").title
    for shown in result["policies"]:
        page = world.policies.find(shown["policy_id"])
        assert shown == {"policy_id": world.policies.policy_id(page), "title": page.title, "text": page.text}


def test_get_shows_one_page(world, call):
    for shown in call(world, "policy_search", query="fee", limit=20)["policies"]:
        assert call(world, "policy_get", policy_id=f" {shown['policy_id'].upper()}") == shown


def test_one_search_can_show_all_pages(world, call):
    pages = call(world, "policy_search", query="", limit=100)["policies"]
    assert len(pages) == len(world.policies.pages) <= 20
    assert len({page["policy_id"] for page in pages}) == len(pages)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(world, call, limit):
    assert call(world, "policy_search", query="fee", limit=limit)["error"]["code"] == "bad_page"


@pytest.mark.parametrize("policy_id", ["", "h0000000", "return_window", "p1234567", "h" * 500])
def test_an_unknown_id_is_refused(world, call, policy_id):
    error = call(world, "policy_get", policy_id=policy_id)["error"]
    assert error["code"] == "unknown_policy"
    assert len(error["message"]) < 200


def test_an_id_of_another_episode_is_unknown(world, new_world, call):
    ids = [page["policy_id"] for page in call(new_world(5, d=6), "policy_search", query="", limit=20)["policies"]]
    assert all("error" in call(world, "policy_get", policy_id=policy_id) for policy_id in ids)


def test_reading_changes_nothing(world, call):
    before = call(world, "policy_search", query="warranty", limit=20)
    for query in ("delivery", "", "ü😀" * 3000, "a b c"):
        call(world, "policy_search", query=query, limit=5)
    assert call(world, "policy_search", query="warranty", limit=20) == before
    assert not world.seen


def test_pages_are_those_of_the_axes(new_world):
    for d in (0, 6, 12):
        world = new_world(1, d=d)
        assert isinstance(world.policies, Policies)
        assert {len(page.attributes) for page in world.policies.pages} == {world.axes.policy_clauses}
