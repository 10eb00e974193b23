"""What the reference agent did from the same seed: never before the end, and what it really did."""

from __future__ import annotations

from typing import Any

import pytest

from components import play
from components.aftermath import aftermath, pending
from components.session import ENVIRONMENTS, Session, SessionError, Shop
from ecomrlve.environment import Environment


def over(engine: Any, env_id: str, difficulty: int, seed: int) -> tuple[Session, Shop]:
    """A session whose episode is over."""
    shop = Shop(lambda: engine)
    session = Session(shop)
    session.start(env_id, difficulty, seed)
    session.act("{broken", session.version)
    return session, shop


def test_it_is_not_told_before_the_end(words_engine: Any) -> None:
    shop = Shop(lambda: words_engine)
    session = Session(shop)
    session.start("E_CART", 0, 3)
    assert pending(session.episode) is None
    for episode in (session.episode, None):
        with pytest.raises(SessionError, match="when an episode is over"):
            aftermath(episode, shop)


def test_the_page_asks_for_it_when_the_episode_is_over(words_engine: Any) -> None:
    session, _ = over(words_engine, "E_CART", 0, 3)
    value = dict(zip(play.OUTPUTS, play.show(session, fresh=False), strict=True))["aftermath"]
    assert value == {"episode": session.episode.key, "pending": True}  # type: ignore[union-attr]


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_it_is_what_the_reference_agent_does(words_engine: Any, played: dict[str, Any], env_id: str) -> None:
    record = played[env_id]
    session, shop = over(words_engine, env_id, record["difficulty"], record["seed"])
    value = aftermath(session.episode, shop)
    assert (value["total"], value["correct"]) == (record["reward"]["total"], record["reward"]["correct"])
    assert (value["your_total"], value["your_turns"]) == (-1, 1)
    assert [turn["number"] for turn in value["turns"]] == [step["turn"] for step in record["steps"]]
    for turn, step in zip(value["turns"], record["steps"], strict=True):
        made = [{"name": call["name"], "args": call["args"]} for call in step["tool_results"]]
        assert [{"name": call["name"], "args": call["args"]} for call in turn["calls"]] == made
        assert turn["message"] == step["canonical"].get("assistant_message", "")
        assert turn["customer"] == (step["customer"] or {"text": ""})["text"]
    assert value["turns"][-1]["answer"] is not None


def test_it_costs_no_request_to_a_model(words_engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session, shop = over(words_engine, "E_CART", 0, 3)
    seen: list[Any] = []
    made = Environment.__init__

    def note(self: Environment, env_ids: Any, engine: Any, customer: Any = None) -> None:
        seen.append(customer)
        made(self, env_ids, engine, customer)

    monkeypatch.setattr(Environment, "__init__", note)
    monkeypatch.setenv("ECOMRLVE_CUSTOMER_MODEL", "some-model")
    aftermath(session.episode, shop)
    assert seen == [None]
