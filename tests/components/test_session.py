from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.session import Session, SessionError, Shop, whole
from ecomrlve.customer.model import ModelError
from ecomrlve.errors import DifficultyError, SeedError

SEARCH = {"tool_calls": [{"name": "catalog_search", "args": {"query": "mug"}}]}


def test_an_episode_is_played_and_kept_once(session: Any) -> None:
    session.start("E_CART", "0", "3")
    assert session.version == 1
    session.act(SEARCH, 1)
    assert session.episode.running
    assert not session.kept
    session.act({"answer": {"done": True}}, 2)
    while session.episode.running:  # an answer in haste is not judged
        session.act({"answer": {"done": True}}, session.version)
    assert len(session.kept) == 1
    assert session.kept[0]["player"] == {"name": "you", "kind": "human"}
    with pytest.raises(SessionError, match="No episode"):
        session.act(SEARCH, session.version)


def test_a_stale_click_changes_nothing(session: Any) -> None:
    session.start("E_CART", 0, 3)
    session.act(SEARCH, 1)
    with pytest.raises(SessionError, match="older state"):
        session.act(SEARCH, 1)
    assert len(session.episode.turns) == 1


def test_wrong_input_leaves_the_running_episode_alone(session: Any) -> None:
    session.start("E_CART", 0, 3)
    running = session.episode
    cases = [
        (("E_CART", "hard", 3), DifficultyError),
        (("E_CART", 13, 3), DifficultyError),
        (("E_CART", 0, "-1"), SeedError),
        (("E_CART", 0, "1.5"), SeedError),
        (("E_NONE", 0, 1), SessionError),
        ((["E_CART"], 0, 1), SessionError),
    ]
    for wrong, error in cases:
        with pytest.raises(error):
            session.start(*wrong)
    assert session.episode is running
    assert session.version == 1


def test_a_log_brings_an_episode_back(session: Any, words_engine: Any) -> None:
    session.start("E_PD", 4, 7)
    session.act(SEARCH, 1)
    session.act('{"assistant_message": "What matters most to you?"}', 2)
    log = session.episode.log()
    other = Session(Shop(lambda: words_engine).start())
    assert other.restore(log)
    assert other.version == session.version
    again, first = other.episode, session.episode
    assert (again.key, again.opening) == (first.key, first.opening)
    assert [turn.customer for turn in again.turns] == [turn.customer for turn in first.turns]
    assert again.observation.to_json() == first.observation.to_json()
    other.act(SEARCH, 3)


def test_a_finished_episode_that_comes_back_is_not_stored_again(session: Any, words_engine: Any) -> None:
    session.start("E_CART", 0, 3)
    session.act("{broken", 1)
    kept: list[Any] = []
    other = Session(Shop(lambda: words_engine).start(), keep=kept.append)
    assert other.restore(session.episode.log())
    assert not other.episode.running
    assert not kept


@pytest.mark.parametrize(
    "log",
    [None, 5, [], {}, {"actions": 3}, {"actions": [], "env_id": "E_X", "difficulty": 0, "seed": 1},
     {"actions": [], "env_id": ["E_CART"], "difficulty": 0, "seed": 1},
     {"actions": [], "env_id": "E_CART", "difficulty": None, "seed": "x"}],
)  # fmt: skip
def test_a_log_that_is_none_is_ignored(session: Any, log: Any) -> None:
    assert not session.restore(log)
    assert session.episode is None


def test_a_log_with_nonsense_for_actions_ends_the_episode_as_the_engine_says(session: Any) -> None:
    assert session.restore({"env_id": "E_CART", "difficulty": 0, "seed": 1, "actions": [7, None]})
    assert session.episode.reward.total == -1


def test_a_shop_that_cannot_be_loaded_says_so() -> None:
    def load() -> Any:
        raise OSError("no space left")

    with pytest.raises(SessionError, match="no space left"):
        Shop(load).wait()


def test_numbers_are_read_from_text() -> None:
    assert [whole(text) for text in ("7", " 12 ", 3, 4.0, "x", "1.5", None)] == [7, 12, 3, 4, "x", "1.5", None]


def test_a_customer_model_is_taken_from_the_environment_and_shared_by_all_games(
    words_engine: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def down(self: Any, messages: Any, seed: int) -> str:
        raise ModelError("down")

    monkeypatch.setattr("ecomrlve.customer.model.EndpointModel.complete", down)
    shop = Shop(load=lambda: words_engine)
    shop.wait()
    assert shop.make("E_PD").customer is None
    monkeypatch.setenv("ECOMRLVE_CUSTOMER_MODEL", "some-model")
    monkeypatch.setenv("ECOMRLVE_CUSTOMER_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("ECOMRLVE_CUSTOMER_CACHE", str(tmp_path / "said.jsonl"))
    one, two = shop.make("E_PD"), shop.make("E_CART")
    assert one.customer is two.customer
    assert one.customer.model_name == "some-model"
    observation, _ = one.reset(seed=1, options={"difficulty": 0})  # nobody answers there: the grammar speaks
    assert observation.messages[0]["content"]
    assert one.customer.counts.fell_back == 1
