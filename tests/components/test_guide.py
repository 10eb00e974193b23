"""The guide: it leads to the right cart from whatever was done, and knows nothing that the visitor could not know."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_views import shop_ids

from components import guide, guide_steps
from components.guide_reading import look
from components.session import Session, Shop
from ecomrlve.agents.registry import make_agent

SCRIPT = Path(__file__).resolve().parents[2] / "assets" / "js" / "guide.js"
HISTORY = {"name": "user_get_visit_history", "args": {}}


@pytest.fixture
def begin(words_engine: Any) -> Callable[..., Session]:
    """Starts a guided episode; by default the first one."""

    def start(seed: int = guide.EPISODE["seed"]) -> Session:
        session = Session(Shop(lambda: words_engine))
        session.start("E_CART", 0, seed, guided=True)
        return session

    return start


def value_of(session: Session) -> dict[str, Any]:
    return guide.guide(session.episode)


def act(session: Session, *calls: dict[str, Any], say: str = "", answer: bool = False) -> dict[str, Any]:
    """Take a turn; returns what the guide says to it."""
    action: dict[str, Any] = {"tool_calls": list(calls)} if calls else {}
    action |= {"assistant_message": say} if say else {}
    action |= {"answer": {"done": True}} if answer else {}
    session.act(action, session.version)
    return value_of(session)


class Visitor:
    """Does what the guide says, as the page's script would tell that it is done."""

    def __init__(self, session: Session, mode: str):
        self.session = session
        self.mode = mode
        self.opening = session.episode.opening if session.episode else ""

    def play(self) -> Any:
        """Follow the guide to the end; returns the reward."""
        episode = self.session.episode
        assert episode is not None
        while episode.running:
            self.turn()
        return episode.reward

    def turn(self) -> None:
        """Take one turn."""
        form: dict[str, Any] = {"tool": "catalog_search", "args": {}}
        tray: list[dict[str, Any]] = []
        message = ""
        for point in value_of(self.session)["points"]:
            if point["only"] not in ("", self.mode):
                continue
            done, at = point["done"], point["at"]
            if "tool" in done:
                form = {"tool": done["tool"], "args": form["args"] if form["tool"] == done["tool"] else {}}
            if at == "card":
                form["args"]["product_id"] = point["product"]
            elif at == "variant":
                form["args"] |= {"product_id": point["product"], "variant_id": point["variant"]}
            elif at == "argument":
                form["args"][point["name"]] = int(done["argument"][1]) if "argument" in done else self.opening
            elif at == "message":
                message = point["write"]
            elif at == "collect":
                tray.append({"name": form["tool"], "args": form["args"]})
            elif at == "single":
                self.mode = guide_steps.SEVERAL
            elif at in ("call", "send", "submit"):
                calls = [{"name": form["tool"], "args": form["args"]}] if at == "call" else tray
                act(self.session, *calls, say=message, answer=at == "submit")
                return
        act(self.session, *tray, answer=True)  # it left the choice to the visitor, who chooses to end it


def test_it_is_there_in_a_guided_cart_episode_only(begin: Any, words_engine: Any) -> None:
    assert guide.guide(None) == guide.HIDDEN
    session = Session(Shop(lambda: words_engine))
    session.start("E_CART", 0, 3)
    assert value_of(session) == guide.HIDDEN
    session.start("E_PD", 0, 3, guided=True)
    assert value_of(session) == guide.HIDDEN
    assert not value_of(begin())["hidden"]


def test_the_first_episode_teaches_all_there_is(begin: Any) -> None:
    session = begin()
    titles = []
    visitor = Visitor(session, guide_steps.SEVERAL)
    while session.episode.running:
        value = value_of(session)
        assert value["aside"] == ""
        titles.append((value["stage"], value["title"]))
        visitor.turn()
    assert titles == [(1, "Meet your customer"), (2, "Find the right one"), (3, "Fill the cart")]
    assert session.episode.reward.correct
    assert session.episode.reward.total == pytest.approx(0.8)
    # A useful question was asked, and was not counted.
    assert [step["discounted"] for step in session.episode.trajectory["steps"]] == [False, True, False]
    value = value_of(session)
    assert (value["stage"], value["title"]) == (value["stages"], "Read your reward")


def test_one_thing_per_turn_leads_there_too(begin: Any) -> None:
    session = begin()
    reward = Visitor(session, guide_steps.SINGLE).play()
    assert reward.correct
    assert len(session.episode.turns) == 4


@pytest.mark.parametrize("mode", [guide_steps.SINGLE, guide_steps.SEVERAL])
def test_it_leads_through_other_episodes_as_well(begin: Any, mode: str) -> None:
    rewards = [Visitor(begin(seed), mode).play() for seed in range(12)]
    assert sum(reward.correct for reward in rewards) >= 10


def test_reading_never_takes_the_wrong_product_for_the_right_one(begin: Any) -> None:
    found = 0
    for seed in range(40):
        session = begin(seed)
        act(session, HISTORY)
        episode = session.episode
        hidden = episode.environment.episode
        product = look(episode.opening, episode.turns).product
        if product is not None:
            found += 1
            assert product["id"] == hidden.world.product_id(hidden.problem.goal[0].row)
    assert found >= 35


class Sealed:
    """An environment that may not be looked into."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the guide looked at {name}")


def test_it_does_not_look_into_the_environment(begin: Any) -> None:
    session = begin()
    act(session, HISTORY)
    expected = value_of(session)
    session.episode.environment = Sealed()
    assert value_of(session) == expected


@pytest.mark.parametrize("seed", range(6))
def test_it_shows_no_id_that_no_tool_has_shown(begin: Any, seed: int) -> None:
    session = begin(seed)
    episode = session.episode
    ids = shop_ids(episode.environment.episode.world)
    agent = make_agent("random")
    agent.reset(episode.environment)
    for _ in range(10):
        text = json.dumps(value_of(session))
        returned = json.dumps([turn.calls for turn in episode.turns])
        assert {one for one in ids if one in text} <= {one for one in ids if one in returned}
        if not episode.running:
            break
        session.act(agent.act(episode.observation), session.version)


@pytest.mark.parametrize("seed", range(12))
def test_it_goes_on_from_whatever_was_done(begin: Any, seed: int) -> None:
    """After two turns of a random agent there is always a next thing to do, and doing it breaks nothing."""
    session = begin(seed)
    agent = make_agent("random")
    agent.reset(session.episode.environment)
    for _ in range(2):
        if session.episode.running:
            session.act(agent.act(session.episode.observation), session.version)
    if session.episode.running:
        reward = Visitor(session, guide_steps.SEVERAL).play()
        assert not reward.reason.startswith("Invalid")
    assert value_of(session)["points"]


def test_another_way_is_noticed_and_gone_on_from(begin: Any) -> None:
    session = begin()
    value = act(session, {"name": "cart_view", "args": {}})
    assert value["aside"].startswith("You took another way (`cart_view`). That is fine: you have 3 turns left")
    assert [point["at"] for point in value["points"]] == ["tool", "call"]
    # A search is as good a beginning.
    value = act(begin(), {"name": "catalog_search", "args": {"query": "hoodie"}})
    assert value["aside"] == ""
    session = begin()
    value = act(session, say="Hello?")
    assert "(a message)" in value["aside"]


def test_a_refusal_is_explained(begin: Any) -> None:
    value = act(begin(), {"name": "cart_add", "args": {"product_id": "pnothing"}})
    assert value["aside"].startswith("The shop refused that: no product has the id 'pnothing'")
    assert value["aside"].endswith("Nothing has changed; you have 3 turns left.")


def test_an_early_answer_is_explained(begin: Any) -> None:
    value = act(begin(), answer=True)
    assert value["aside"].startswith("That was early")


def with_variants(begin: Any) -> tuple[Session, Any, dict[str, Any]]:
    """The first episode where the product and its variants are known."""
    session = begin()
    act(session, HISTORY)
    product = look(session.episode.opening, session.episode.turns).product
    act(session, {"name": "catalog_get_variants", "args": {"product_id": product["id"]}}, say="Which size?")
    sight = look(session.episode.opening, session.episode.turns)
    return session, sight, product


def test_what_is_wrong_in_the_cart_is_taken_out(begin: Any) -> None:
    session, sight, product = with_variants(begin)
    meant = sight.meant[product["id"]]
    other = next(v for v in sight.variants[product["id"]] if v is not meant and v["stock"] > 0)
    line = {"product_id": product["id"], "variant_id": other["variant_id"]}
    value = act(session, {"name": "cart_add", "args": line})
    assert value["title"] == "Mend the cart"
    assert value["points"][0]["done"] == {"tool": "cart_remove"}
    assert value["points"][1]["variant"] == other["variant_id"]
    # It is the last turn: one call is all that goes along with the answer.
    assert [point["at"] for point in value["points"]][-1] == "submit"


def test_one_piece_is_enough(begin: Any) -> None:
    session, sight, product = with_variants(begin)
    line = {"product_id": product["id"], "variant_id": sight.meant[product["id"]]["variant_id"]}
    value = act(session, {"name": "cart_add", "args": {**line, "qty": 3}})
    assert value["points"][0]["done"] == {"tool": "cart_update"}
    assert Visitor(session, guide_steps.SEVERAL).play().correct


def test_the_right_cart_is_handed_in(begin: Any) -> None:
    session, sight, product = with_variants(begin)
    line = {"product_id": product["id"], "variant_id": sight.meant[product["id"]]["variant_id"]}
    value = act(session, {"name": "cart_add", "args": line})
    assert (value["stage"], [point["at"] for point in value["points"]]) == (4, ["submit"])


def test_where_several_fit_the_guide_says_ask(begin: Any) -> None:
    session = begin(4)  # the customer left out what tells the lookalikes apart
    value = act(session, HISTORY)
    assert value["title"] == "Ask what is unclear"
    assert value["points"][0]["write"] == guide_steps.WHICH_ONE
    assert Visitor(session, guide_steps.SEVERAL).play().correct


def test_the_page_knows_every_place_and_condition() -> None:
    source, script = Path(guide_steps.__file__).read_text(), SCRIPT.read_text()

    def keys(name: str) -> set[str]:
        body = script.split(f"const {name} = {{")[1].split("\n};")[0]
        return set(re.findall(r"^  (\w+):", body, re.MULTILINE))

    assert set(re.findall(r"point\(\s*\"(\w+)\"", source)) == keys("PLACES")
    conditions = re.findall(r"(?:done=|ready[^=\n]* = )\{([^}]*)\}", source)
    assert set(re.findall(r"\"(\w+)\":", " ".join(conditions))) == keys("HOLDS")
