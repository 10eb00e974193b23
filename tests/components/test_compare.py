"""Two players in one scenario: playing, recorded games from anywhere, and who is who."""

from __future__ import annotations

import asyncio
import json
import sys
import types
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gradio as gr
import pytest

from components import compare, compare_playing
from components.compare import HIDDEN, PAIR, Comparison
from components.compare_playing import Scenario, agents_match, game_of
from components.events.compare import play_pair
from components.session import Shop
from ecomrlve.agents.base import play
from ecomrlve.agents.registry import make_agent
from ecomrlve.errors import EcomrlveError
from ecomrlve.trajectory import stable

HOSTILE = '<img src=x onerror="window.__ran=1">${window.__ran=3} {{value}} \ud800'
NEEDED = ("schema", "env_id", "difficulty", "seed", "catalog", "steps", "reward")


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """What a coroutine returns, from a thread of its own: browser tests leave an event loop running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


@pytest.fixture(scope="module")
def shop(words_engine: Any) -> Shop:
    return Shop(lambda: words_engine)


@pytest.fixture(scope="module")
def game(shop: Shop) -> dict[str, Any]:
    """A game that a person played: what the random agent does, under the name of one."""
    env = shop.start().make("E_PD") if not shop.wait() else None
    play(env, make_agent("random"), 11, 4)
    return env.trajectory("you", "human").to_dict()


def finished(match: Any) -> Any:
    while not match.portion():
        pass
    return match


def shown(state: Comparison, match: Any, *, blind: bool) -> list[dict[str, Any]]:
    """All values of the two sides that the page gets while a match is played."""

    async def collect() -> list[Any]:
        return [values async for values in play_pair(state, match, blind=blind)]

    sent = run(collect())
    assert all(values[0] is state for values in sent)
    # What ends sends its last values once more; they must change nothing.
    assert sent.pop()[1:] == [gr.skip()] * 3
    return [values[2] for values in sent]


@pytest.mark.parametrize(("env_id", "difficulty"), [("E_CART", 0), ("E_PD", 5), ("E_RETURN", 3), ("E_JOURNEY", 2)])
def test_agents_in_step_do_what_they_do_alone(shop: Shop, env_id: str, difficulty: int) -> None:
    names = ("reference", "random")
    match = finished(agents_match(shop, Scenario(env_id, str(difficulty), "21"), *names))
    for name, record in zip(names, match.records(), strict=True):
        env = shop.make(env_id)
        reward = play(env, make_agent(name), 21, difficulty)
        assert record["reward"] == reward.to_dict()
        assert stable(record) == stable(env.trajectory(name, "agent").to_dict())
        assert record["player"] == {"name": name, "kind": "agent"}
        assert record["evaluation"]["agent"] == name
        assert record["evaluation"]["seconds"] >= record["evaluation"]["engine_seconds"] > 0


def test_a_portion_ends_when_its_time_is_over_and_both_stay_in_step(shop: Shop) -> None:
    match = agents_match(shop, Scenario("E_PD", 6, 3), "reference", "random")
    portions = 0
    while not match.portion(seconds=0.0):
        portions += 1
        running = [side for side in match.sides if side.record is None]
        assert match.turns == 2 * portions or len(running) == 1
    turns = [len(record["steps"]) for record in match.records()]
    assert portions + 1 == max(turns)
    assert match.turns == sum(turns)


@pytest.mark.parametrize(
    ("scenario", "names", "told"),
    [
        (Scenario("E_PD", 3, 1), ("reference", "reference"), "two different players"),
        (Scenario("E_PD", 3, 1), ("reference", "checkpoint:/etc"), "no agent of that name"),
        (Scenario("E_PD", 3, 1), (["reference"], None), "no agent of that name"),
        (Scenario("E_NONE", 3, 1), ("reference", "random"), "no environment"),
        (Scenario("E_PD", 99, 1), ("reference", "random"), "12"),
        (Scenario("E_PD", 3, "-1"), ("reference", "random"), "seed"),
        (Scenario({}, [], None), ("reference", "random"), "environment"),
    ],
)
def test_what_cannot_be_played_is_told(shop: Shop, scenario: Scenario, names: Any, told: str) -> None:
    with pytest.raises(EcomrlveError, match=told):
        finished(agents_match(shop, scenario, *names))


def test_an_agent_that_breaks_ends_the_match_with_a_reason(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        name = "broken"

        def reset(self, env: Any) -> None: ...

        def act(self, observation: Any) -> Any:
            raise ZeroDivisionError(HOSTILE[:-1])  # it is logged, and half a character cannot be reported

    module = types.ModuleType("agent_that_breaks")
    module.Broken = Broken  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "agent_that_breaks", module)
    monkeypatch.setenv("ECOMRLVE_AGENTS", "python:agent_that_breaks:Broken")
    monkeypatch.setattr("components.events.compare.warn", lambda error: None)
    match = agents_match(shop, Scenario("E_CART", 0, 1), "reference", "python:agent_that_breaks:Broken")
    assert shown(Comparison(), match, blind=False)[-1]["note"] == "The agent failed with a ZeroDivisionError."


# --- recorded games --------------------------------------------------------------------------------------------------


def test_an_agent_plays_the_game_of_a_person(shop: Shop, game: dict[str, Any]) -> None:
    match = finished(compare.against(game, "reference", shop))
    mine, agents = match.records()
    assert stable(mine) == stable(game)
    assert (agents["env_id"], agents["difficulty"], agents["seed"]) == ("E_PD", 4, 11)
    assert mine["opening"] == agents["opening"]
    assert [side.label for side in match.sides] == ["You", "Reference agent"]
    assert not match.sides[0].notes


def test_overrides_of_a_game_hold_for_the_agent_too(shop: Shop) -> None:
    env = shop.make("E_PD")
    play(env, make_agent("random"), 5, 2, {"turn_budget": 3})
    game = env.trajectory("you", "human").to_dict()
    _, agents = finished(compare.against(game, "random", shop)).records()
    assert agents["overrides"] == {"turn_budget": 3}
    assert len(agents["steps"]) <= 3


def test_what_a_record_claims_is_not_believed(shop: Shop, game: dict[str, Any]) -> None:
    changed = {**game, "reward": {**game["reward"], "total": 1.0, "correct": True, "reason": HOSTILE}}
    match = finished(compare.against(changed, "reference", shop))
    assert match.records()[0]["reward"] == game["reward"]
    assert "reward" in match.sides[0].notes[0]


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def without(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda game: {key: value for key, value in game.items() if key != name}


BROKEN: dict[str, Callable[[dict[str, Any]], Any]] = {
    "nothing": lambda game: None,
    "a number": lambda game: 5,
    "a list": lambda game: [game],
    "empty": lambda game: {},
    "no JSON": lambda game: {**game, "steps": {1, 2}},
    **{
        f"no {name}": without(name) for name in ("schema", "env_id", "difficulty", "seed", "catalog", "steps", "reward")
    },
    "too deep": lambda game: {**game, "goal": nested(100_000)},
    "too large": lambda game: {**game, "goal": "x" * (10 * 2**20)},
    "too long": lambda game: {**game, "steps": game["steps"] * 50},
    "too many calls": lambda game: {**game, "steps": [{"action": "", "tool_results": [{}] * 600}]},
    "unfinished": lambda game: {**game, "steps": game["steps"][:1]},
    "another catalog": lambda game: {**game, "catalog": {**game["catalog"], "fingerprint": "0" * 16}},
    "another environment": lambda game: {**game, "env_id": "../../etc"},
    "wrong seed": lambda game: {**game, "seed": {"$": 1}},
    "wrong difficulty": lambda game: {**game, "difficulty": None},
    "wrong overrides": lambda game: {**game, "overrides": {HOSTILE: "x"}},
    "wrong action": lambda game: {**game, "steps": [None]},
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN.keys())
def test_a_game_that_is_none_is_refused_with_a_reason(shop: Shop, game: dict[str, Any], change: Any) -> None:
    with pytest.raises(EcomrlveError) as refused:
        finished(compare.against(change(game), "reference", shop))
    assert 10 < len(str(refused.value)) < 400


def test_markup_in_a_game_stays_text_that_can_be_sent(shop: Shop, game: dict[str, Any]) -> None:
    actions = [{"assistant_message": HOSTILE}, {"tool_calls": [{"name": "catalog_search", "args": {"query": HOSTILE}}]}]
    steps = [{"action": action, HOSTILE: HOSTILE} for action in [*actions, HOSTILE * 3, "{" + HOSTILE]]
    hostile = {**game, "steps": steps, "player": {"name": HOSTILE, "kind": HOSTILE}, "goal": HOSTILE, "done": HOSTILE}
    for count in range(1, len(steps) + 1):
        tried = {**hostile, "steps": steps[:count]}
        try:
            match = finished(compare.against(tried, "random", shop))
        except EcomrlveError:  # not over yet
            continue
        state = Comparison()
        state.show(compare.pair_of(match), blind=False)
        sent = json.dumps(compare.sides(state), ensure_ascii=False).encode()
        assert b"<img src=x" in sent
        return
    pytest.fail("no prefix of these actions ends an episode")


# --- who is who ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("person", [False, True])
def test_nothing_tells_who_is_who_before_the_guess(shop: Shop, game: dict[str, Any], person: bool) -> None:
    orders = set()
    for number in range(12):
        state = Comparison(token=f"guest {number}")
        if person:
            match = compare.against(game, "reference", shop)
        else:
            match = agents_match(shop, Scenario("E_PD", 4, 11), "reference", "scripted")
        sent = shown(state, match, blind=True)
        text = json.dumps(sent, ensure_ascii=False).lower()
        assert not [name for name in ("reference", "scripted", '"you"', '"agent') if name in text]
        last = sent[-1]
        assert [side["name"] for side in last["sides"]] == list(HIDDEN)
        assert {side["figures"]["seconds"] for side in last["sides"]} == {None}
        cells = [cell for row in last["rows"] for cell in row["sides"] if cell]
        assert {call["ms"] for cell in cells for call in cell["calls"]} == {None}
        assert last["question"] == ("person" if person else "player")
        orders.add(state.swapped)
        assert state.guess(int(state.swapped)) is True
        told = compare.sides(state, right=True)
        names = [side["name"] for side in told["sides"]]
        assert (names[::-1] if state.swapped else names) == [side.label for side in match.sides]
        assert told["verdict"]["text"].startswith("Right!")
    assert orders == {False, True}


def test_sides_are_shuffled_by_a_keyed_draw_anew_for_each_pair(shop: Shop) -> None:
    pair = compare.pair_of(finished(agents_match(shop, Scenario("E_CART", 0, 1), "reference", "random")))

    def drawn(token: str) -> list[bool]:
        state, found = Comparison(token=token), []
        for _ in range(16):
            state.begin(PAIR)
            state.show(pair, blind=True)
            found.append(state.swapped)
        return found

    assert drawn("a") == drawn("a")
    assert drawn("a") != drawn("b")
    assert set(drawn("a")) == {False, True}
    state = Comparison(token="a")
    state.show(pair, blind=False)
    assert not state.swapped
    assert not state.hidden


def test_guesses_are_counted_and_there_is_one_per_pair(shop: Shop) -> None:
    pair = compare.pair_of(finished(agents_match(shop, Scenario("E_CART", 0, 1), "reference", "random")))
    state = Comparison()
    assert state.guess(0) is None
    for wrong in (None, "0", 2, True, [0]):
        state.show(pair, blind=True)
        assert state.guess(wrong) is None
        assert not state.hidden
    for right in (True, False, True):
        state.begin(PAIR)
        state.show(pair, blind=True)
        assert state.guess(int(state.swapped is right)) is right
        assert state.guess(0) is None
    assert state.guesses == [True, False, True]
    assert "2 times out of 3" in compare.sides(state, right=True)["verdict"]["text"]


def test_a_match_that_was_replaced_says_nothing_any_more(shop: Shop) -> None:
    state = Comparison()

    async def replaced() -> list[Any]:
        steps = play_pair(state, agents_match(shop, Scenario("E_JOURNEY", 6, 1), "reference", "scripted"), blind=False)
        await anext(steps)
        state.begin(PAIR)
        return [values async for values in steps]

    assert [values[1:] for values in run(replaced())] == [[gr.skip()] * 3]
    assert state.pair is None


# --- the form and links ----------------------------------------------------------------------------------------------


def test_a_link_brings_back_the_comparison(shop: Shop) -> None:
    pair = compare.pair_of(finished(agents_match(shop, Scenario("E_CART", 2, 17), "random", "scripted")))
    address = compare.link(pair)
    assert address == "?tab=compare&env=E_CART&d=2&seed=17&a=random&b=scripted"
    query = dict(part.split("=") for part in address[1:].split("&"))
    asked = {"env_id": "E_CART", "difficulty": "2", "seed": "17", "one": "random", "other": "scripted"}
    assert compare.linked(query) == asked


@pytest.mark.parametrize("query", [None, 5, [], {}, {"tab": "play"}, {"tab": ["compare"]}])
def test_other_addresses_ask_for_nothing(query: Any) -> None:
    assert compare.linked(query) is None


def test_a_link_with_nonsense_asks_for_something_that_is_refused(shop: Shop) -> None:
    asked = compare.linked({"tab": "compare", "env": {"a": 1}, "d": HOSTILE, "seed": None, "a": HOSTILE, "b": 7})
    assert asked is not None
    with pytest.raises(EcomrlveError):
        agents_match(shop, Scenario(asked["env_id"], asked["difficulty"], asked["seed"]), asked["one"], asked["other"])


def test_the_form_shows_a_recorded_game_and_where_it_was_played(game: dict[str, Any]) -> None:
    form = compare.setup(game=game_of(game))
    assert form["game"]["label"] == "Recorded game by You (E_PD, d 4, seed 11)"
    assert (form["one"], form["env_id"], form["difficulty"], form["seed"]) == (compare.GAME, "E_PD", "4", "11")
    assert [agent["name"] for agent in form["agents"]] == ["reference", "scripted", "random", "learned"]


def test_a_name_of_a_player_is_kept_short(game: dict[str, Any]) -> None:
    game = {**game, "player": {"name": "x" * 5000, "kind": "agent"}}
    assert len(game_of(game).label) <= compare_playing.LONGEST_NAME
    assert game_of(game).kind == "agent"
