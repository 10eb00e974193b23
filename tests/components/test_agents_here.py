"""The agents that visitors may let play, and one seated at an episode."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from components import agents
from components.agents import AgentTroubleError, Seat
from components.episode import YOU
from components.session import ENVIRONMENTS, SessionError, Shop

BUILT_IN = ("reference", "scripted", "random")
TALK = {"assistant_message": "Hello! What can I do for you, and is there anything else I should know?"}
HERE = f"python:{__name__}:"


class Raising:
    """An agent that fails, in a way that tells of the server."""

    name = "raising"

    def reset(self, env: Any) -> None:
        pass

    def act(self, observation: Any) -> Any:
        raise ValueError("/root/secret")


class Leaving(Raising):
    """An agent that would end the server."""

    def act(self, observation: Any) -> Any:
        raise SystemExit(3)


class Following(Raising):
    """An agent that is told what others did."""

    def reset(self, env: Any) -> None:
        self.told: list[tuple[int, Any]] = []

    def follow(self, observation: Any, action: Any) -> None:
        self.told.append((observation.turn, action))

    def act(self, observation: Any) -> Any:
        return {"assistant_message": f"I was told of {len(self.told)} turns."}


class Listening(Raising):
    """An agent that says what it was shown."""

    def act(self, observation: Any) -> Any:
        return {"assistant_message": f"{observation.turn}: {[message['role'] for message in observation.messages]}"}


@pytest.fixture
def shop(words_engine: Any) -> Shop:
    made = Shop(lambda: words_engine)
    made.wait()
    return made


def offer(patch: pytest.MonkeyPatch, *names: str) -> None:
    patch.setenv("ECOMRLVE_AGENTS", "\n".join(names))


def played(shop: Shop, name: str, env_id: str, difficulty: int, seed: int) -> tuple[list[Any], Any]:
    """What an agent does when it is played the usual way, and the reward."""
    from ecomrlve.agents.base import play
    from ecomrlve.agents.registry import make_agent

    agent, environment = make_agent(name), shop.make(env_id)
    actions: list[Any] = []
    act = agent.act
    agent.act = lambda observation: actions.append(act(observation)) or actions[-1]  # type: ignore[method-assign]
    return actions, play(environment, agent, seed, difficulty)


@pytest.mark.parametrize("name", BUILT_IN)
@pytest.mark.parametrize("env_id", ENVIRONMENTS)
@pytest.mark.parametrize("difficulty", [0, 6])
def test_a_seated_agent_plays_as_it_does_elsewhere(shop: Shop, name: str, env_id: str, difficulty: int) -> None:
    actions, reward = played(shop, name, env_id, difficulty, 11)
    episode = shop.open(env_id, difficulty, 11)
    seat = Seat(name, episode)
    while episode.running:
        seat.turn()
    assert episode.actions == actions
    assert episode.reward == reward
    assert episode.trajectory["player"] == {"name": name, "kind": "agent"}


def test_only_built_in_agents_and_those_that_the_server_names_may_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [choice.name for choice in agents.choices()] == [*BUILT_IN, "learned"]
    offer(monkeypatch, "endpoint:http://127.0.0.1:9/v1#m", "scripted", "checkpoint:some/model")
    named = [choice.name for choice in agents.choices()]
    assert named == [*BUILT_IN, "learned", "endpoint:http://127.0.0.1:9/v1#m", "checkpoint:some/model"]
    assert [agents.check_name(name) for name in named] == named
    for wrong in ("cheat:first_hits", HERE + "Raising", "", None, 3, ["scripted"], "endpoint:http://evil.invalid#m"):
        with pytest.raises(SessionError, match="no agent of that name"):
            agents.check_name(wrong)


def test_titles_are_labels_without_the_words_about_them(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, HERE + "Raising")
    assert [agents.title_of(name) for name in BUILT_IN] == ["Reference agent", "Scripted agent", "Random agent"]
    assert agents.title_of(HERE + "Raising") == HERE + "Raising"
    assert agents.title_of("somebody") == "somebody"


def test_an_agent_that_is_not_built_in_thinks_in_threads_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, HERE + "Raising", HERE + "Listening")
    pools = [agents.pool(name) for name in (*BUILT_IN, HERE + "Raising", HERE + "Listening")]
    assert pools[0] is pools[1] is pools[2]
    assert len({id(pool) for pool in pools}) == 3
    gate = threading.Event()
    stuck = [pools[3].submit(gate.wait, 30) for _ in range(20)]
    assert pools[0].submit(int, "7").result(30) == 7
    assert pools[4].submit(int, "8").result(30) == 8
    assert agents.pool(HERE + "Raising", sitting=True).submit(int, "9").result(30) == 9
    assert not any(job.done() for job in stuck)
    gate.set()
    assert all(job.result(30) for job in stuck)


@pytest.mark.parametrize(("name", "error"), [("Raising", "ValueError"), ("Leaving", "SystemExit")])
def test_an_agent_that_fails_says_so_and_nothing_of_the_server(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, name: str, error: str
) -> None:
    offer(monkeypatch, HERE + name)
    episode = shop.open("E_CART", 0, 3)
    seat = Seat(HERE + name, episode)
    with pytest.raises(AgentTroubleError) as trouble:
        seat.turn()
    assert str(trouble.value) == f"The agent failed with a {error}."
    assert episode.running
    assert not episode.turns


@pytest.mark.parametrize(
    ("name", "says"),
    [("python:no_such_module:Agent", "cannot be imported"), ("nonsense", "there is no agent 'nonsense'"),
     (HERE + "played", "failed with a TypeError"), ("checkpoint:x?depth=3", "depth")],
)  # fmt: skip
def test_an_agent_that_cannot_play_says_why(shop: Shop, monkeypatch: pytest.MonkeyPatch, name: str, says: str) -> None:
    offer(monkeypatch, name)
    with pytest.raises(AgentTroubleError, match=says):
        Seat(name, shop.open("E_CART", 0, 3))


def test_a_decision_waits_until_it_is_taken(shop: Shop) -> None:
    actions, _ = played(shop, "scripted", "E_CART", 6, 7)
    episode = shop.open("E_CART", 6, 7)
    seat = Seat("scripted", episode)
    seat.choose()
    seat.choose()
    assert not episode.turns
    assert [seat.take(), seat.turn()] == actions[:2]
    assert episode.players == ["scripted", "scripted"]
    while episode.running:
        seat.turn()
    with pytest.raises(SessionError, match="over"):
        seat.turn()


def test_an_agent_that_follows_is_told_every_turn(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    name = HERE + "Following"
    offer(monkeypatch, name)
    past = [(YOU, TALK), (name, {"assistant_message": "Which one?"}), ("scripted", TALK)]
    seat = Seat(name, shop.open("E_PD", 6, 3), past)
    assert seat._agent.told == [(turn, action) for turn, (_, action) in enumerate(past)]
    assert seat.turn() == {"assistant_message": "I was told of 3 turns."}
    assert seat.episode.players == [YOU, name, "scripted", name]


def test_an_agent_that_does_not_follow_finds_all_it_missed_in_its_next_observation(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = HERE + "Listening"
    offer(monkeypatch, name)
    search = {"tool_calls": [{"name": "catalog_search", "args": {"query": "mug"}}]}
    seat = Seat(name, shop.open("E_PD", 6, 3), [(YOU, TALK), (YOU, search)])
    assert seat.turn()["assistant_message"] == "2: ['customer', 'customer', 'tool']"
    assert seat.turn()["assistant_message"].startswith("3: ['customer']")


@pytest.mark.parametrize("name", BUILT_IN)
def test_an_agent_finds_back_into_its_own_episode(shop: Shop, name: str) -> None:
    actions, reward = played(shop, name, "E_JOURNEY", 4, 9)
    for turn in range(0, len(actions), 3):
        episode = shop.open("E_JOURNEY", 4, 9)
        seat = Seat(name, episode, [(name, action) for action in actions[:turn]])
        while episode.running:
            seat.turn()
        assert episode.actions == actions
        assert episode.reward == reward


def after_a_person(shop: Shop, name: str, seeds: range) -> list[tuple[str, Any]]:
    """What comes of an agent that takes over after a person's greeting."""
    found = []
    for env_id in ENVIRONMENTS:
        for seed in seeds:
            episode = shop.open(env_id, 2, seed)
            seat = Seat(name, episode, [(YOU, TALK)])
            while episode.running:
                seat.turn()
            assert episode.trajectory["player"] == {"name": f"you, then {name}", "kind": "mixed"}
            found.append((env_id, episode.reward))
    return found


def test_the_reference_agent_takes_over_from_a_person(shop: Shop) -> None:
    # With a turn fewer not every return can be worked out in time; everything else can.
    wrong = [env_id for env_id, reward in after_a_person(shop, "reference", range(3)) if not reward.correct]
    assert set(wrong) <= {"E_RETURN"}
    assert len(wrong) <= 1


def test_the_scripted_agent_takes_over_from_a_person(shop: Shop) -> None:
    found = after_a_person(shop, "scripted", range(3))
    assert not [reward.reason for _, reward in found if "nvalid" in reward.reason]
    assert sum(reward.correct for _, reward in found) >= len(found) / 2
