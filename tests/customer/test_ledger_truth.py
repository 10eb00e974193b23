"""What the ledger says was said, was said; nothing else was."""

from __future__ import annotations

from typing import Any

import pytest

from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.customer.grammar import mentions
from ecomrlve.customer.ledger import Ledger, Slot
from ecomrlve.environment import Environment


def utterances(engine: Any, env_id: str, seeds: range, d: int) -> Any:
    """Every noise-free utterance of reference episodes: (text, slots said by then, slots never said, keys in it)."""
    env = Environment((env_id,), engine)
    for seed in seeds:
        observation, _ = env.reset(seed=seed, options={"difficulty": d, "overrides": {"noise": 0.0}})
        agent, episode = ReferenceAgent(), env.episode
        agent.reset(env)
        yield observation.messages[0]["content"], episode, list(episode.opening.slots)
        over = False
        while not over:
            observation, _, terminated, truncated, _ = env.step(agent.act(observation))
            over = terminated or truncated
            said = episode.steps[-1]["customer"]
            if said is not None:
                yield said["text"], episode, said["slots"]


@pytest.mark.parametrize("env_id", ["E_CART", "E_PD"])
@pytest.mark.parametrize("d", [2, 7, 12])
def test_each_slot_that_counts_as_said_stands_in_the_text_and_no_unsaid_one_does(
    words_engine: Any, env_id: str, d: int
) -> None:
    checked = 0
    for text, episode, keys in utterances(words_engine, env_id, range(40), d):
        for key in keys:
            assert mentions(text, episode.ledger.slots[key]), (text, episode.ledger.slots[key])
            checked += 1
        for slot in episode.ledger.unsaid():
            if slot.kind in ("constraint", "variant", "priority") and not _shared_value(episode.ledger, slot):
                assert not mentions(text, slot), (text, slot)
                checked += 1
    assert checked > 100


def _shared_value(ledger: Ledger, slot: Slot) -> bool:
    """Whether another slot, or a title, holds the same words, so that saying those would look like saying this one."""
    others = [other.key for other in ledger.slots.values() if other.key != slot.key]
    # What was said before a change of mind is named once more when the mind is changed.
    values = [ledger.slots[key].value for key in others]
    values += [saying.value for key in others for saying in ledger.sayings.get(key, [])]
    texts = [str(value).casefold() for value in values]
    # "A low price" names a priority and would pass for odor: low.
    return any(str(slot.value).casefold() in text for text in texts) or slot.value in ("", "low", "high", "fast")


def test_saying_again_is_not_new_and_a_change_of_mind_replaces_the_value() -> None:
    slots = {key: Slot(key, "constraint", key, "eq", value) for key, value in (("a", 1), ("b", 2), ("c", 3))}
    ledger = Ledger(slots=slots, asleep={"c"}, pending={"a": 9})
    assert [slot.key for slot in ledger.unsaid()] == ["a", "b"]
    assert ledger.say(["a", "b"], 0, "open") == ["a", "b"]
    assert ledger.say(["b"], 1, "repeat") == []
    assert not ledger.everything_said()
    assert ledger.switch(2) == ["a"]
    assert [slot.value for slot in ledger.said_slots()] == [9, 2]
    assert [saying.value for saying in ledger.sayings["a"]] == [1, 9]
    assert ledger.everything_said()
    ledger.wake("c")
    assert [slot.key for slot in ledger.unsaid()] == ["c"]
    with pytest.raises(KeyError):
        ledger.say(["nobody"], 3, "clarify")
