"""The Watch tab without a browser: turns, pauses, logs, and what a page is sent."""

from __future__ import annotations

import json
import re
from typing import Any

import gradio as gr
import pytest

from components import watch, watched
from components.episode import UNKNOWN, YOU
from components.session import ENVIRONMENTS, Session, SessionError, Shop
from components.watched import Viewer, Watch
from ecomrlve.agents.base import play
from ecomrlve.agents.registry import make_agent
from ecomrlve.errors import DifficultyError, SeedError
from ecomrlve.protocol import Action

SKIP = gr.skip()
TALK = {"assistant_message": "Hello! What can I do for you?"}
HERE = f"python:{__name__}:"
# Ids of products, orders, lines and pages in an episode: letters and digits mixed.
ID = re.compile(r"\b(?=[a-z]*\d)[a-z][0-9a-z]{6,}\b")


class Unsound:
    """An agent that puts out what no page can hold."""

    name = "unsound"

    def reset(self, env: Any) -> None:
        pass

    def act(self, observation: Any) -> Any:
        return {"assistant_message": object()}


@pytest.fixture
def shop(words_engine: Any) -> Shop:
    made = Shop(lambda: words_engine)
    made.wait()
    return made


def by_name(values: list[Any]) -> dict[str, Any]:
    """What a page is sent anew."""
    return {name: value for name, value in zip(watch.OUTPUTS, values, strict=True) if value != SKIP}


def tick(seen: Watch) -> dict[str, Any]:
    """One request of a page that has all turns but the one it asks for."""
    have = len(seen.episode.turns)
    seen.wanted += 1
    seen.turn()
    return by_name(watch.show(seen, have))


def whole(shop: Shop, agent: str, env_id: str, difficulty: int, seed: int) -> tuple[Watch, list[dict[str, Any]]]:
    """A watch to its end, and what the page was sent, the first page included."""
    seen = watched.begin(shop, agent, env_id, str(difficulty), str(seed))
    sent = [by_name(watch.show(seen, run=True))]
    while seen.status == "going":
        sent.append(tick(seen))
    return seen, sent


@pytest.mark.parametrize("agent", ["reference", "scripted", "random"])
@pytest.mark.parametrize("env_id", ENVIRONMENTS)
@pytest.mark.parametrize("difficulty", [0, 6])
def test_what_is_watched_is_what_the_agent_plays_elsewhere(
    shop: Shop, agent: str, env_id: str, difficulty: int
) -> None:
    environment = shop.make(env_id)
    reward = play(environment, make_agent(agent), 21, difficulty)
    record = environment.trajectory(agent, "agent").to_dict()
    seen, sent = whole(shop, agent, env_id, difficulty, 21)
    assert seen.episode.reward == reward
    turns = [turn for values in sent for turn in values["talk"]["turns"]]
    assert [turn["action"] for turn in turns] == [step["action"] for step in record["steps"]]
    assert [turn["number"] for turn in turns] == [step["turn"] for step in record["steps"]]
    assert [turn["customer"] for turn in turns] == [
        (step["customer"] or {}).get("text", "") for step in record["steps"]
    ]
    calls = [[(call["name"], call["args"]) for call in turn["calls"]] for turn in turns]
    assert calls == [[(call["name"], call["args"]) for call in step["tool_results"]] for step in record["steps"]]
    assert sent[-1]["result"]["total"] == pytest.approx(reward.total)
    assert sent[-1]["talk"]["status"] == "finished"
    json.dumps(sent)


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_a_page_holds_nothing_but_what_has_happened(shop: Shop, env_id: str) -> None:
    seen, sent = whole(shop, "reference", env_id, 6, 21)
    episode = seen.episode
    found = set()
    for number, values in enumerate(sent[:-1]):
        assert values.get("result") is None
        assert values["talk"]["from"] + len(values["talk"]["turns"]) == number
        happened = [(turn.calls, turn.customer) for turn in episode.turns[:number]]
        known = set(ID.findall(json.dumps([episode.opening, happened, episode.actions[:number]])))
        shown = set(ID.findall(json.dumps({name: value for name, value in values.items() if name != "chooser"})))
        assert shown <= known | {episode.key}
        found |= shown
    assert sent[-1]["result"] is not None
    assert len(found) > 1 or env_id == "E_POLICY"


def test_only_what_changed_is_sent_again(shop: Shop) -> None:
    _, sent = whole(shop, "reference", "E_CART", 6, 7)
    assert sent[0].keys() == set(watch.OUTPUTS)
    assert all("chooser" not in values and "profile" not in values for values in sent[1:])
    assert all({"talk", "meters"} <= values.keys() for values in sent)
    with_cart = [values["cart"] for values in sent[1:] if "cart" in values]
    assert with_cart
    assert all(cart["lines"] for cart in with_cart)
    assert len(with_cart) < len(sent) - 1


def test_a_page_that_lacks_turns_gets_them_all(shop: Shop) -> None:
    seen, sent = whole(shop, "scripted", "E_CART", 6, 7)
    turns = [turn for values in sent for turn in values["talk"]["turns"]]
    for have in (0, 2, len(turns)):
        talk = by_name(watch.show(seen, have))["talk"]
        assert (talk["from"], talk["turns"]) == (have, turns[have:])
    assert by_name(watch.show(seen, 99))["talk"]["from"] == 0
    seen.sent = {}
    assert {"meters", "result", "cart", "seen"} <= by_name(watch.show(seen, 2)).keys()


def test_nothing_moves_while_paused_and_the_decision_is_not_lost(shop: Shop) -> None:
    seen = watched.begin(shop, "scripted", "E_CART", 6, 7)
    tick(seen)
    seen.paused = 2  # the visitor pauses the page's second request, while the agent thinks
    assert tick(seen)["talk"]["turns"] == []
    assert len(seen.episode.turns) == 1
    tick(seen)
    whole_one, _ = whole(shop, "scripted", "E_CART", 6, 7)
    assert seen.episode.actions == whole_one.episode.actions[:2]


def test_a_stopped_watch_stays_where_it_is(shop: Shop) -> None:
    seen = watched.begin(shop, "scripted", "E_CART", 6, 7)
    tick(seen)
    seen.stopped = True
    assert tick(seen)["talk"]["status"] == "stopped"
    assert len(seen.episode.turns) == 1


def test_an_agent_that_fails_ends_the_watch_with_a_reason(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = watched.begin(shop, "scripted", "E_CART", 6, 7)
    tick(seen)
    monkeypatch.setattr(seen.seat._agent, "act", lambda observation: {}["key"])
    values = tick(seen)
    assert values["talk"]["status"] == "failed"
    assert values["talk"]["problem"] == "The agent failed with a KeyError."
    assert values["talk"]["turns"] == []
    assert by_name(watch.show(seen, 1)).get("result") is None


def test_an_output_that_no_page_can_hold_ends_the_episode_and_is_shown(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ECOMRLVE_AGENTS", HERE + "Unsound")
    seen, sent = whole(shop, HERE + "Unsound", "E_CART", 0, 1)
    turn = sent[-1]["talk"]["turns"][0]
    assert not turn["readable"]
    assert "not JSON" in json.dumps(turn["action"])
    assert seen.episode.reward.total == -1
    back = watched.again(shop, seen.log(), HERE + "Unsound")
    assert back.episode.reward.total == -1


def test_actions_are_kept_as_json() -> None:
    assert watched.plain(Action(message="Hi")) == {"assistant_message": "Hi"}
    assert watched.plain("raw text") == "raw text"
    assert watched.plain({"tool_calls": ({"name": "x"},)}) == {"tool_calls": [{"name": "x"}]}
    for wrong in ({1, 2}, float("nan"), {"a": object()}):
        assert "not JSON" in json.dumps(watched.plain(wrong))


@pytest.mark.parametrize(
    ("asked", "error"),
    [(("nobody", "E_CART", 0, 1), SessionError), (("random", "E_X", 0, 1), SessionError),
     (("random", "E_CART", "hard", 1), DifficultyError), (("random", "E_CART", 0, "-1"), SeedError),
     ((["random"], "E_CART", 0, 1), SessionError), ((None, None, None, None), SessionError)],
)  # fmt: skip
def test_a_watch_of_what_does_not_exist_is_refused(shop: Shop, asked: tuple[Any, ...], error: type) -> None:
    with pytest.raises(error):
        watched.begin(shop, *asked)


def test_a_visitor_takes_over_from_any_turn(shop: Shop) -> None:
    seen, _ = whole(shop, "scripted", "E_CART", 6, 7)
    for turn in range(len(seen.episode.turns)):
        session = Session(shop)
        assert session.restore(json.loads(json.dumps(seen.log(turn))))
        assert session.episode.running
        assert session.episode.actions == seen.episode.actions[:turn]
        assert session.episode.players == ["scripted"] * turn
    session.act("{broken", session.version)
    assert session.episode.trajectory["player"] == {"name": "scripted, then you", "kind": "mixed"}


def test_whoever_saw_the_end_is_known_to_have_seen_it(shop: Shop) -> None:
    viewer = Viewer(watched.begin(shop, "random", "E_CART", 0, 7))
    viewer.note_end()
    assert viewer.log()["again"] is False
    viewer.watch, _ = whole(shop, "random", "E_CART", 0, 7)
    viewer.note_end()
    viewer.watch = watched.begin(shop, "random", "E_CART", 3, 7)
    assert viewer.log()["again"] is True
    viewer.watch = watched.begin(shop, "random", "E_CART", 3, 8)
    assert viewer.log()["again"] is False


def test_an_agent_goes_on_from_a_persons_turns(shop: Shop) -> None:
    session = Session(shop)
    session.start("E_PD", 4, 7)
    session.act(TALK, 1)
    log = json.loads(json.dumps(session.episode.log()))
    seen = watched.take(shop, log, "reference")
    values = by_name(watch.show(seen, run=True))
    assert [turn["player"] for turn in values["talk"]["turns"]] == [YOU]
    assert values["talk"]["run"] is True
    while seen.status == "going":
        tick(seen)
    assert seen.episode.trajectory["player"] == {"name": "you, then reference", "kind": "mixed"}
    assert seen.episode.reward.correct
    with pytest.raises(SessionError, match="over"):
        watched.take(shop, seen.log(), "reference")


@pytest.mark.parametrize("agent", ["reference", "scripted", "random"])
def test_a_watch_that_the_server_forgot_goes_on_as_it_would_have(shop: Shop, agent: str) -> None:
    seen, _ = whole(shop, agent, "E_JOURNEY", 4, 9)
    for turn in range(0, len(seen.episode.turns), 4):
        back = watched.again(shop, json.loads(json.dumps(seen.log(turn))), agent, "key")
        assert back.episode.key == "key"
        while back.status == "going":
            tick(back)
        assert back.episode.actions == seen.episode.actions
        assert back.episode.trajectory["player"] == {"name": agent, "kind": "agent"}


@pytest.mark.parametrize(
    "log",
    [None, 7, [], {}, {"actions": "x"}, {"actions": [TALK] * 61}, {"actions": ["x" * 3_000_000]},
     {"actions": [], "env_id": "E_X", "difficulty": 0, "seed": 1},
     {"actions": [], "env_id": "E_CART", "difficulty": None, "seed": {}}],
)  # fmt: skip
def test_a_log_that_is_none_is_refused(shop: Shop, log: Any) -> None:
    with pytest.raises((SessionError, DifficultyError, SeedError)):
        watched.take(shop, log, "random")


def test_a_log_that_lies_about_its_players_is_that_of_unknown_ones(shop: Shop) -> None:
    log = {"env_id": "E_CART", "difficulty": "0", "seed": "3", "actions": [TALK], "players": ["<b>me</b>"]}
    assert watched.checked(log)["players"] == [UNKNOWN]
    seen = watched.take(shop, log, "random")
    while seen.status == "going":
        tick(seen)
    assert seen.episode.trajectory["player"]["kind"] == "mixed"


def test_an_address_says_what_to_watch() -> None:
    asked = {"tab": "watch", "env": "E_PD", "d": "4", "seed": "9", "agent": "random", "other": "x"}
    assert watch.linked(asked) == {"env": "E_PD", "d": "4", "seed": "9", "agent": "random"}
    assert watch.linked({"tab": "watch", "env": "E_PD"}) == {"env": "E_PD", "d": 0, "seed": 7, "agent": "reference"}
    for nothing in (None, [], {}, {"tab": "watch"}, {"env": "E_PD", "d": "4"}, {"tab": "play", "env": "E_PD"}):
        assert watch.linked(nothing) is None


def test_large_seeds_keep_their_digits(shop: Shop) -> None:
    seed = 2**62 + 1
    seen = watched.begin(shop, "random", "E_CART", 0, str(seed))
    values = by_name(watch.show(seen, run=True))
    assert values["chooser"]["seed"] == values["talk"]["log"]["seed"] == str(seed)
    log = {**values["talk"]["log"], "actions": [], "players": []}
    assert watched.take(shop, log, "random").episode.seed == seed
