"""What an agent states to have it confirmed is judged, and a list of guesses brings no more than a question does."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from ecomrlve.customer import wording
from ecomrlve.customer.dialogue import PER_QUESTION, TURNS_WITHOUT_PROGRESS
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.mentions import mentions, yes_or_no
from ecomrlve.customer.phrases import value_words
from ecomrlve.customer.words import is_number
from ecomrlve.environment import Environment

STILL_LOOKING = "I am still looking."
# Attributes that every catalog has, by the words with which they are asked for.
ASKED = {
    "price": "What is your budget?",
    "ship_days": "How soon does it have to arrive?",
    "rating": "Which rating should it have?",
    "color": "What color should it be?",
}


def start(engine: Any, env_id: str, seed: int, omission: float = 1.0) -> Environment:
    env = Environment((env_id,), engine)
    overrides = {"omission": omission, "switching": 0.0, "noise": 0.0, "turn_budget": 14}
    env.reset(seed=seed, options={"difficulty": 6, "overrides": overrides})
    return env


def say(env: Environment, text: str) -> dict[str, Any]:
    """What the customer answers: acts, text, slots, new."""
    env.step({"assistant_message": text})
    return env.episode.steps[-1]["customer"] or {"acts": [], "text": "", "slots": [], "new": []}


def look(env: Environment, text: str = "") -> None:
    """A turn that shows products not seen before, so that the customer stays, and reveals nothing."""
    filters = {"type": env.episode.world.catalog.type_names[-1]}
    page = {"query": "", "filters": filters, "limit": 1, "page": env.episode.turn + 1}
    env.step({"tool_calls": [{"name": "catalog_search", "args": page}], "assistant_message": text})


def spelled(form: str) -> Iterator[str]:
    """All that a form with choices in it may say."""
    parts = re.split(r"\[([^\[\]]*)\]", form)
    choices = [part.split("|") if number % 2 else [part] for number, part in enumerate(parts)]
    return map("".join, itertools.product(*choices))


LEADS = {
    name: {text for form in forms for text in spelled(form)}
    for name, forms in {**wording.AGREE, **wording.SAID}.items()
}


def begins(text: str, lead: str) -> bool:
    return text.startswith(tuple(LEADS[lead]))


def verdict(text: str) -> str:
    """Which of "yes", "no" and "almost" a reply begins with; empty for none."""
    found = [agree for agree in wording.AGREE if begins(text, agree)]
    assert len(found) < 2, text
    return "".join(found)


def wrong(slot: Slot) -> Any:
    """A value of the slot's sort that is not right, or None."""
    if slot.attribute == "rating":
        return round(slot.value - 1, 1)
    if is_number(slot.value):
        return slot.value + 3
    values = slot.value if isinstance(slot.value, list | tuple) else [slot.value]
    if any(is_number(value) or yes_or_no(value) is not None for value in values):
        return None
    return next((word for word in slot.choices if word not in values), None)


def guessable(env: Environment) -> list[Slot]:
    """Unsaid constraints that can be guessed rightly and wrongly.

    "Right?" at the end of a question passes for a value where something may be left or right.
    """
    slots = env.episode.ledger.unsaid()
    if any("right" in slot.choices for slot in slots):
        return []
    return [slot for slot in slots if slot.kind == "constraint" and slot.item is None and wrong(slot) is not None]


def unmistakable(env: Environment) -> list[Slot]:
    """Those whose number, if they have one, cannot pass for that of another slot."""
    units = Counter(slot.unit for slot in env.episode.ledger.slots.values() if slot.kind == "constraint" and slot.unit)
    return [slot for slot in guessable(env) if units[slot.unit] < 2]


def stated(slots: Sequence[Slot], right: Sequence[bool]) -> str:
    says = [
        f"the {slot.label} should be {value_words(slot, slot.value if so else wrong(slot))}"
        for slot, so in zip(slots, right, strict=True)
    ]
    return f"So {', '.join(says)}, right?"


# --- one value -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("right", "agree"), [(True, "yes"), (False, "no")])
def test_a_stated_value_is_judged_and_the_right_one_is_said(words_engine: Any, right: bool, agree: str) -> None:
    checked = 0
    for seed in range(40):
        env = start(words_engine, "E_PD", seed)
        slots = unmistakable(env)
        if not slots:
            continue
        slot = slots[seed % len(slots)]
        said = say(env, stated([slot], [right]))
        assert said["acts"] == ["clarify"], (slot, said)
        assert said["new"] == said["slots"] == [slot.key], (slot, said)
        assert verdict(said["text"]) == agree, (slot, said)
        assert mentions(said["text"], slot), (slot, said)
        assert env.episode.ledger.said(slot.key)
        assert env.episode.ledger.sayings[slot.key][-1].value == slot.value
        checked += 1
    assert checked >= 30


def test_a_judged_value_is_judged_again_and_brings_nothing_new(words_engine: Any) -> None:
    verdicts = Counter()
    for seed in range(20):
        env = start(words_engine, "E_PD", seed)
        slots = unmistakable(env)
        if not slots:
            continue
        say(env, stated(slots[:1], [False]))
        before = env.episode.user_turns
        for right in (False, True):
            said = say(env, stated(slots[:1], [right]))
            assert (said["acts"], said["new"], said["slots"]) == (["repeat"], [], [slots[0].key]), said
            assert mentions(said["text"], slots[0]), said
            verdicts[right, verdict(said["text"])] += 1
        # Nobody gets a turn for free by that.
        assert env.episode.user_turns == before
    assert set(verdicts) == {(False, "no"), (True, "yes")}


def test_the_right_version_of_an_item_gets_a_yes(words_engine: Any) -> None:
    checked = 0
    for seed in range(60):
        env = start(words_engine, "E_CART", seed)
        slots = env.episode.ledger.unsaid()
        # A number in a title may pass for how many there should be, and a single letter for a word.
        plain = [
            slot
            for slot in slots
            if slot.kind == "variant"
            and not re.search(r"\d", f"{slot.item_name} {slot.value}")
            and len(str(slot.value)) > 1
            and not any("right" in slot.choices for slot in slots)
        ]
        if not plain:
            continue
        said = say(env, f"So the {plain[0].label} of the {plain[0].item_name} should be {plain[0].value}, right?")
        assert said["acts"][0] == "clarify", said
        assert plain[0].key in said["new"], said
        assert verdict(said["text"]) == "yes", said
        assert mentions(said["text"], plain[0]), said
        checked += 1
    assert checked >= 10


# --- several values --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("right", "agree"),
    [((True, True), "yes"), ((True, False), "almost"), ((False, True), "almost"), ((False, False), "no")],
)
def test_several_values_are_judged_together(words_engine: Any, right: tuple[bool, ...], agree: str) -> None:
    checked = 0
    for seed in range(30):
        env = start(words_engine, "E_PD", seed)
        slots = [slot for slot in unmistakable(env) if slot.attribute in ASKED][:2]
        if len(slots) < 2:
            continue
        said = say(env, stated(slots, right))
        assert said["acts"] == ["clarify"]
        assert said["new"] == [slot.key for slot in slots], said
        assert verdict(said["text"]) == agree, said
        assert all(mentions(said["text"], slot) for slot in slots), said
        checked += 1
    assert checked >= 8


PATTERNS = {
    "all right": itertools.repeat(True),
    "all wrong": itertools.repeat(False),
    "wrong later": itertools.chain([True] * PER_QUESTION, itertools.repeat(False)),
    "every other": itertools.cycle((True, False)),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_shotgun_of_guesses_brings_no_more_than_a_question(words_engine: Any, pattern: str) -> None:
    rights, checked = list(itertools.islice(PATTERNS[pattern], 30)), 0
    for seed in range(25):
        env = start(words_engine, "E_PD", seed)
        slots = guessable(env)
        if len(slots) <= PER_QUESTION:
            continue
        truth = {slot.key: so for slot, so in zip(slots, rights, strict=False)}
        clear = {slot.key for slot in unmistakable(env)}
        text = stated(slots, list(truth.values()))
        said = say(env, text)
        assert said["acts"] == ["clarify"], said
        assert 1 <= len(said["new"]) <= PER_QUESTION, said
        assert said["slots"] == said["new"]
        # Yes or no is about what is said in the same breath, and about nothing else.
        assert all(mentions(said["text"], env.episode.ledger.slots[key]) for key in said["new"]), said
        judged = [truth[key] for key in said["new"] if key in truth]
        agree = "yes" if all(judged) else "almost" if any(judged) else "no"
        if clear.issuperset(said["new"]):
            assert verdict(said["text"]) == agree, said
            checked += 1
        # Once more, and nothing comes of it.
        again = say(env, text)
        assert (again["acts"], again["new"], again["slots"]) == (["repeat"], [], said["slots"]), again
        assert verdict(again["text"]) == verdict(said["text"]) != "", again
    assert checked >= 10


def test_guesses_that_are_turned_round_bring_no_more_either(words_engine: Any) -> None:
    checked = 0
    for seed in range(15):
        env = start(words_engine, "E_PD", seed)
        slots = guessable(env)
        if len(slots) <= PER_QUESTION:
            continue
        told = 0
        for order in (slots, slots[::-1], slots[2:] + slots[:2]):
            said = say(env, stated(order, [True] * len(order)))
            told += len(said["new"])
        # What was judged once is what is judged again: guessing on brings nothing.
        assert told <= PER_QUESTION
        checked += 1
    assert checked >= 5


# --- talk without a question -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", ["E_PD", "E_CART"])
def test_an_endless_chat_makes_the_customer_leave_and_brings_nothing_before(words_engine: Any, env_id: str) -> None:
    for seed in range(12):
        env = start(words_engine, env_id, seed)
        episode = env.episode
        for turn in range(1, TURNS_WITHOUT_PROGRESS + 1):
            assert not episode.over
            said = say(env, STILL_LOOKING)
            if turn < TURNS_WITHOUT_PROGRESS:
                assert (said["acts"], said["new"]) == (["chat"], [])
        assert said["acts"] == ["chat", "quit"]
        assert episode.over
        assert episode.user_turns == 0


def test_chat_beside_progress_brings_only_what_everybody_hears_near_the_end(words_engine: Any) -> None:
    for seed in range(12):
        env = start(words_engine, "E_PD", seed)
        episode = env.episode
        while episode.axes.turn_budget - episode.turn > 3:
            look(env, STILL_LOOKING)
            assert episode.steps[-1]["customer"]["acts"] == ["chat"]
            assert episode.steps[-1]["customer"]["new"] == []
        look(env, STILL_LOOKING)
        assert "elaborate" in episode.steps[-1]["customer"]["acts"]
        assert episode.ledger.everything_said()
        assert episode.user_turns == 0


# --- the same question again -----------------------------------------------------------------------------------------


def repeats(engine: Any, when: str) -> Iterator[dict[str, Any]]:
    """What the customer says to a question about something that was said at the start, just now or earlier."""
    for seed in range(60):
        env = start(engine, "E_PD", seed, omission=0.0 if when == "start" else 1.0)
        slots = [slot for slot in env.episode.ledger.slots.values() if slot.kind == "constraint"]
        slot = next((slot for slot in slots if slot.attribute in ASKED), None)
        if slot is None:
            continue
        question = ASKED[slot.attribute]
        if when != "start":
            assert slot.key in say(env, question)["new"]
        if when == "earlier":
            look(env)
            look(env, STILL_LOOKING)
        said = say(env, question)
        assert (said["acts"], said["new"], said["slots"]) == (["repeat"], [], [slot.key]), said
        assert mentions(said["text"], slot), said
        yield said


@pytest.mark.parametrize("when", wording.SAID)
def test_the_same_question_again_hears_when_it_was_answered(words_engine: Any, when: str) -> None:
    texts = [said["text"] for said in repeats(words_engine, when)]
    assert len(texts) >= 40
    named = [text for text in texts if begins(text, when)]
    assert len(texts) / 4 < len(named) < len(texts)
    # In several ways, and never at another time than it was.
    assert len({text.split(",")[0].split(":")[0] for text in named}) >= 3
    for other in set(wording.SAID) - {when}:
        assert not [text for text in texts if begins(text, other) and not begins(text, when)]


def test_the_words_for_when_it_was_said_name_the_time(words_engine: Any) -> None:
    cues = {"start": "first message", "just now": "just", "earlier": "earlier"}
    for when, cue in cues.items():
        assert any(cue in said["text"] for said in repeats(words_engine, when))
