"""Episodes whose customer speaks in a language model's words: recorded, replayed without it, and judged alike."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ecomrlve import make
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.customer.model import ModelError
from ecomrlve.customer.model_grammar import ModelGrammar, PhraseCache, grammar_of, vocabulary_of
from ecomrlve.environment import Environment
from ecomrlve.errors import TrajectoryError
from ecomrlve.replay import replay, verify

FORMS = ("Right then. {}", "{} There you go.", "Well: {}")


class Paraphraser:
    """A model that says the draft with a few words round it; `fails` makes it fail on every second request."""

    name = "paraphraser"

    def __init__(self, fails: bool = False):
        self.calls = 0
        self._fails = fails

    def complete(self, messages: list[dict[str, str]], seed: int) -> str:
        self.calls += 1
        if self._fails and self.calls % 2:
            raise ModelError("down")
        found = re.search(r"as an example:\n(.*)\nSay the same", messages[0]["content"], re.DOTALL)
        assert found
        draft = found[1]
        return FORMS[seed % len(FORMS)].format(draft)


def played(engine: Any, customer: Any, env_id: str = "E_CART", seed: int = 5, d: int = 6) -> dict[str, Any]:
    env = make(env_id, catalog=engine, customer=customer)
    observation, _ = env.reset(seed=seed, options={"difficulty": d})
    agent = ReferenceAgent()
    agent.reset(env)
    while not env.episode.over:
        observation, *_ = env.step(agent.act(observation))
    return json.loads(env.trajectory("reference").to_json())


def words(record: dict[str, Any]) -> list[str]:
    return [record["opening"]["text"], *(step["customer"]["text"] for step in record["steps"] if step["customer"])]


@pytest.mark.parametrize("env_id", ["E_CART", "E_PD", "E_JOURNEY"])
def test_an_episode_replays_to_the_byte_without_the_model_that_spoke_in_it(words_engine: Any, env_id: str) -> None:
    record = played(words_engine, Paraphraser(), env_id)
    plain = played(words_engine, None, env_id)
    assert any(record["phrasing"]["said"].values())
    assert words(record) != words(plain)
    assert record["reward"] == plain["reward"]
    assert record["ledger"] == plain["ledger"]
    assert verify(record, words_engine).ok
    assert words(replay(record, words_engine)) == words(record)


def test_an_episode_without_a_model_records_none_and_its_bytes_are_those_of_a_model_that_never_answers(
    words_engine: Any,
) -> None:
    class Down(Paraphraser):
        def complete(self, messages: list[dict[str, str]], seed: int) -> str:
            raise ModelError("down")

    plain, down = played(words_engine, None), played(words_engine, Down())
    assert "phrasing" not in plain
    assert words(plain) == words(down)
    assert set(down["phrasing"]["said"].values()) == {""}
    assert verify(down, words_engine).ok


def test_a_model_that_fails_now_and_then_ends_no_episode_and_is_replayed_as_it_was(words_engine: Any) -> None:
    grammar = ModelGrammar(Paraphraser(fails=True), retries=0)
    record = played(words_engine, grammar)
    said = record["phrasing"]["said"].values()
    assert any(said)
    assert not all(said)
    assert 0 < grammar.counts.fall_back_rate < 1
    assert record["reward"]["task"] == 1.0
    assert verify(record, words_engine).ok


@pytest.mark.parametrize("what", ["forged", "missing", "other model"])
def test_words_that_were_not_said_are_found_out(words_engine: Any, what: str) -> None:
    record = played(words_engine, Paraphraser())
    said = record["phrasing"]["said"]
    key = next(key for key, text in said.items() if text)
    if what == "forged":
        said[key] = said[key] + " And it has to be waterproof."
    elif what == "missing":
        del said[key]
    else:
        record["phrasing"]["model"] = "another"
    assert not verify(record, words_engine).ok


@pytest.mark.parametrize("junk", ["gibberish", {"said": [1]}, {"said": {"a": 1}}, {"model": 3}, 7])
def test_a_record_whose_phrasing_is_none_is_refused_in_words(words_engine: Any, junk: Any) -> None:
    with pytest.raises(TrajectoryError, match="phrasing"):
        grammar_of(junk, words_engine.catalog)
    record = played(words_engine, Paraphraser()) | {"phrasing": junk}
    assert "phrasing" in verify(record, words_engine).difference


def test_two_environments_share_a_cache_on_disk_and_the_second_asks_no_model(words_engine: Any, tmp_path: Path) -> None:
    first = Paraphraser()
    one = played(words_engine, ModelGrammar(first, cache=PhraseCache(tmp_path / "said.jsonl")))
    assert first.calls
    second = Paraphraser()
    two = played(words_engine, ModelGrammar(second, cache=PhraseCache(tmp_path / "said.jsonl")))
    assert second.calls == 0
    assert words(one) == words(two)


def test_the_words_of_colors_brands_and_materials_are_known_to_the_check(words_engine: Any) -> None:
    known = vocabulary_of(words_engine.catalog)
    assert {"black", "bamboo"} <= known
    assert all(word == word.lower() for word in known)


def test_a_running_episode_holds_its_own_grammar(words_engine: Any) -> None:
    grammar = ModelGrammar(Paraphraser())
    one, two = (Environment(("E_PD",), words_engine, grammar) for _ in range(2))
    one.reset(seed=1, options={"difficulty": 3})
    two.reset(seed=2, options={"difficulty": 3})
    keys = [set(env.episode.grammar.said) for env in (one, two)]  # type: ignore[union-attr]
    assert keys[0]
    assert not keys[0] & keys[1]
