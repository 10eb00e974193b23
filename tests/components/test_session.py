from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components import play
from components.episode import MOST_ACTIONS, UNKNOWN, YOU, player_of, read_players
from components.library import Library
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


BROKEN = "{broken"  # no action: it ends an episode


def finish(session: Session, **options: Any) -> dict[str, Any]:
    """End the running episode at once; returns its record."""
    session.act(BROKEN, session.version, **options)
    assert session.episode is not None
    assert session.episode.trajectory is not None
    return session.episode.trajectory


@pytest.mark.parametrize(
    ("players", "options", "name", "kind"),
    [
        ([YOU, YOU], {}, "Ada", "human"),
        ([YOU], {"again": True}, "Ada (again)", "human"),
        ([YOU], {"guided": True}, "Ada, guided", "mixed"),
        ([YOU], {"guided": True, "again": True}, "Ada, guided (again)", "mixed"),
        (["scripted", "scripted", YOU], {}, "scripted, then Ada", "mixed"),
        (["scripted", YOU], {"again": True}, "scripted, then Ada (again)", "mixed"),
        ([YOU, "scripted", YOU, "reference"], {}, "Ada and scripted and reference in turns", "mixed"),
        (["scripted"], {"again": True}, "scripted", "agent"),
        (["scripted", "random"], {}, "scripted, then random", "mixed"),
        ([UNKNOWN], {}, UNKNOWN, "mixed"),
    ],
)
def test_a_record_says_who_played(players: list[str], options: dict[str, bool], name: str, kind: str) -> None:
    assert player_of(players, "Ada", **options) == (name, kind)


@pytest.mark.parametrize(
    ("named", "read"),
    [
        (["scripted", "you"], ["scripted", "you"]),
        (["you"], [UNKNOWN] * 2),
        (["you", "you", "you"], [UNKNOWN] * 2),
        (["somebody", "you"], [UNKNOWN] * 2),
        (["you", ["you"]], [UNKNOWN] * 2),
        ("yu", [UNKNOWN] * 2),
        (None, [UNKNOWN] * 2),
    ],
)
def test_who_played_is_only_believed_where_it_is_said_well(named: Any, read: list[str]) -> None:
    assert read_players({"players": named}, 2, {"scripted"}) == read


def test_a_log_without_players_is_that_of_a_person() -> None:
    assert read_players({}, 2, {"scripted"}) == [YOU, YOU]


def test_a_person_goes_on_where_an_agent_was(session: Any) -> None:
    log = {"env_id": "E_CART", "difficulty": 0, "seed": 3, "actions": [SEARCH], "players": ["scripted"]}
    assert session.restore(log)
    assert session.episode.players == ["scripted"]
    assert session.episode.log()["players"] == ["scripted"]
    assert finish(session)["player"] == {"name": "scripted, then you", "kind": "mixed"}
    assert session.kept[0]["player"]["kind"] == "mixed"
    stranger = {**log, "seed": 4, "players": ["an agent that is not here"]}
    assert session.restore(stranger)
    assert finish(session)["player"] == {"name": "unknown, then you", "kind": "mixed"}


def test_a_longer_log_than_any_episode_is_cut(session: Any) -> None:
    actions = [{"assistant_message": "Hm."}] * (MOST_ACTIONS + 5)
    assert session.restore({"env_id": "E_JOURNEY", "difficulty": 12, "seed": 3, "actions": actions})
    assert len(session.episode.turns) <= MOST_ACTIONS


def test_whoever_has_seen_the_end_plays_again(session: Any) -> None:
    session.nickname = "Ada"
    session.start("E_CART", 0, 3)
    assert finish(session)["player"] == {"name": "Ada", "kind": "human"}
    # One level up, the same seed often has the same goal.
    for difficulty, seed, name in ((0, 3, "Ada (again)"), (1, 3, "Ada (again)"), (0, 4, "Ada")):
        session.start("E_CART", difficulty, seed)
        assert finish(session)["player"] == {"name": name, "kind": "human"}
    session.start("E_PD", 0, 3)
    assert finish(session)["player"]["name"] == "Ada"


def test_what_the_browser_remembers_counts_too_and_stays_in_the_log(session: Any, words_engine: Any) -> None:
    session.start("E_CART", 0, 3)
    session.act(SEARCH, 1, seen=True)
    log = session.episode.log()
    other = Session(Shop(lambda: words_engine).start())
    assert other.restore(log)
    assert finish(other)["player"]["name"] == "you (again)"


def test_a_finished_episode_that_was_reloaded_counts_as_seen(session: Any, words_engine: Any) -> None:
    session.start("E_CART", 0, 3)
    finish(session)
    log = session.episode.log()
    assert log["stored"] == session.kept[0]["episode_id"]
    other = Session(Shop(lambda: words_engine).start())
    assert other.restore(log)
    assert other.episode.stored == log["stored"]
    other.start("E_CART", 0, 3)
    assert finish(other)["player"]["name"] == "you (again)"


@pytest.mark.parametrize("value", [7, None, ["x"], "x" * 1000])
def test_names_in_a_log_are_names_or_nothing(session: Any, value: Any) -> None:
    log = {"env_id": "E_CART", "difficulty": 0, "seed": 3, "actions": [BROKEN], "key": value, "stored": value}
    assert session.restore(log)
    assert session.episode.stored == ""
    assert 0 < len(session.episode.key) < 40


def test_a_guided_episode_stays_guided_and_is_no_game_of_a_person_alone(session: Any, words_engine: Any) -> None:
    session.start("E_CART", 0, 3, guided=True)
    other = Session(Shop(lambda: words_engine).start())
    assert other.restore(session.episode.log())
    assert other.episode.guided
    assert finish(other)["player"] == {"name": "you, guided", "kind": "mixed"}


def test_an_agent_gets_the_episode_as_it_stands(session: Any) -> None:
    session.start("E_CART", 0, 3)
    session.act(SEARCH, 1)
    handed = play.handover(session, "scripted")
    assert handed == {"log": session.episode.log(), "agent": "scripted"}
    assert handed["log"]["players"] == [YOU]
    with pytest.raises(SessionError, match="no agent of that name"):
        play.handover(session, "cheat:first_hits")
    finish(session)
    for nothing in (session, None):
        with pytest.raises(SessionError, match="No episode is running"):
            play.handover(nothing, "scripted")


def test_an_episode_from_another_tab_is_gone_on_with(session: Any) -> None:
    session.start("E_PD", 0, 3)
    log = {"env_id": "E_CART", "difficulty": 0, "seed": 3, "actions": [SEARCH], "players": ["scripted"], "again": True}
    values = dict(zip(play.OUTPUTS, play.resume(session, log), strict=True))
    # The page must see that this is another state than the one it shows.
    assert values["meters"]["version"] == session.version == 2
    assert values["controls"]["env_id"] == "E_CART"
    assert session.episode.again
    with pytest.raises(SessionError, match="cannot be taken over"):
        play.resume(session, {"actions": [], "env_id": "E_NONE"})
    assert session.episode.env_id == "E_CART"


def test_a_finished_episode_is_found_in_the_library(words_engine: Any, tmp_path: Path) -> None:
    library = Library(tmp_path)
    session = Session(Shop(lambda: words_engine), keep=library.append)
    assert play.replay_key(None, library) is None
    session.start("E_CART", 0, 3)
    assert play.replay_key(session, library) is None
    episode_id = finish(session)["episode_id"]
    (entry,) = library.entries()
    assert (play.replay_key(session, library), entry.id) == (entry.key, episode_id)
    other = Session(Shop(lambda: words_engine))
    other.restore(session.episode.log())
    assert play.replay_key(other, library) == entry.key
