"""How varied the customer's openings are, and whether what its ledger says was said was said.

Variety is measured on openings with their values taken out: how many repeat another one, distinct-n (the share of
n-grams that differ, Li et al. 2016) and self-BLEU (how well the others predict one, Zhu et al. 2018; lower is more
varied). Truth is measured on every utterance of reference episodes without typos.
"""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.customer.dates import dates_in
from ecomrlve.customer.ledger import Ledger, Slot
from ecomrlve.customer.mentions import mentions
from ecomrlve.customer.model_grammar import ModelGrammar
from ecomrlve.customer.phrases import label_of, value_words
from ecomrlve.environment import Environment

_SAMPLE, _JUDGED = 200, 60  # openings that self-BLEU compares, and those of them that are predicted
_NUMBER = re.compile(r"\$?\d[\d,]*(?:\.\d+)?|\b(?:two|three|four|five|six|seven|eight|nine|ten|a week|two weeks)\b")
# What may share its words with another slot, so that saying one looks like saying the other.
_CHECKED = ("constraint", "variant", "priority", "identify", "quantity", "reference", "reason", "refund", "fact")


@dataclass(frozen=True, slots=True)
class Variety:
    """How varied some openings are.

    Attributes:
        openings: How many there are.
        repeated: Share that are like an earlier one but for the values.
        distinct: Share of different words, pairs and triples of words.
        self_bleu: How well the others predict one, from 0 to 1.
        words: Words per opening, in the mean.
    """

    openings: int
    repeated: float
    distinct: tuple[float, float, float]
    self_bleu: float
    words: float


def openings(engine: SearchEngine, env_id: str, d: int, count: int) -> list[str]:
    """Openings of the seeds from 0 on, without typos, with "#" for every value, label and name."""
    env = Environment((env_id,), engine)
    found = []
    for seed in range(count):
        observation, _ = env.reset(seed=seed, options={"difficulty": d, "overrides": {"noise": 0.0}})
        found.append(skeleton(observation.messages[0]["content"], list(env.episode.ledger.slots.values())))
    return found


def skeleton(text: str, slots: Sequence[Slot]) -> str:
    """A text with "#" for the values of slots, and for all numbers and dates."""
    for day in reversed(dates_in(text)):
        text = f"{text[: day.start]}#{text[day.end :]}"
    values = {value for slot in slots for value in _texts(slot) if value}
    for value in sorted(values, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "#", text, flags=re.IGNORECASE)
    return re.sub(r"\b(?:an?|some|the) #", "#", _NUMBER.sub("#", text))


def _texts(slot: Slot) -> Iterator[str]:
    yield from (slot.item_name, *slot.choices)
    if slot.label:
        yield label_of(slot)
    values = slot.value if isinstance(slot.value, list | tuple) else [slot.value]
    for value in values:
        if isinstance(value, dict):
            yield from (str(value.get("title") or ""), str(value.get("value") or ""))
            yield from map(str, (value.get("identify") or {}).values())
        else:
            yield from (str(value), value_words(slot, value))


def variety(texts: Sequence[str]) -> Variety:
    """Measure some openings, see `Variety`."""
    tokens = [re.findall(r"\w+|[^\w\s]", text.lower()) for text in texts]
    repeated = sum(count - 1 for count in Counter(texts).values()) / max(1, len(texts))
    sample = random.Random(0).sample(tokens, min(_SAMPLE, len(tokens)))
    judged = sample[:_JUDGED]
    bleu = [_bleu(one, [other for other in sample if other is not one]) for one in judged]
    distinct = [_distinct(tokens, size) for size in (1, 2, 3)]
    words = sum(map(len, tokens)) / max(1, len(tokens))
    return Variety(len(texts), repeated, (distinct[0], distinct[1], distinct[2]), sum(bleu) / max(1, len(bleu)), words)


def _grams(words: Sequence[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(size)), strict=False))


def _distinct(texts: Sequence[Sequence[str]], size: int) -> float:
    found = Counter[tuple[str, ...]]()
    for words in texts:
        found.update(_grams(words, size))
    return len(found) / max(1, found.total())


def _bleu(one: Sequence[str], others: Sequence[Sequence[str]]) -> float:
    """The geometric mean of the shares of its n-grams, n from 1 to 4, that stand in one of the others as often."""
    total = 0.0
    for size in range(1, 5):
        mine = _grams(one, size)
        if not mine:
            return 0.0
        most = Counter[tuple[str, ...]]()
        for other in others:
            most |= _grams(other, size)
        total += math.log(max((mine & most).total(), 1e-9) / mine.total()) / 4
    return math.exp(total)


@dataclass(slots=True)
class Truth:
    """What a check of utterances found.

    Attributes:
        utterances: Customer messages.
        said: Slots that the ledger records as said in them.
        withheld: Slots looked for that it records as unsaid.
        wrong: What did not hold: (the text, the slot's key, "not said" or "said").
    """

    utterances: int = 0
    said: int = 0
    withheld: int = 0
    wrong: list[tuple[str, str, str]] | None = None


def truth(
    engine: SearchEngine, env_id: str, d: int, seeds: Sequence[int], customer: ModelGrammar | None = None
) -> Truth:
    """Look for every slot said, and for every one unsaid, in all utterances of reference episodes without typos."""
    found = Truth(wrong=[])
    assert found.wrong is not None
    env = Environment((env_id,), engine, customer)
    for seed in seeds:
        for text, said, unsaid, ledger in _utterances(env, seed, d):
            found.utterances += 1
            for slot in said:
                found.said += 1
                if not mentions(text, slot):
                    found.wrong.append((text, slot.key, "not said"))
            for slot in unsaid:
                if slot.kind in _CHECKED and not _shares_words(ledger, slot):
                    found.withheld += 1
                    if mentions(text, slot):
                        found.wrong.append((text, slot.key, "said"))
    return found


def _utterances(env: Environment, seed: int, d: int) -> Iterator[tuple[str, list[Slot], list[Slot], Ledger]]:
    """Every customer message with the slots said in it, and those unsaid after it."""
    observation, _ = env.reset(seed=seed, options={"difficulty": d, "overrides": {"noise": 0.0}})
    agent, episode = ReferenceAgent(), env.episode
    agent.reset(env)
    intent = episode.intents.current
    ledger = intent.ledger
    yield (
        observation.messages[0]["content"],
        [ledger.slots[_own(key)] for key in episode.opening.slots],
        ledger.unsaid(),
        ledger,
    )
    while not episode.over:
        observation, *_ = env.step(agent.act(observation))
        said = episode.steps[-1]["customer"]
        if said is None:
            continue
        ledgers = {str(intent.index): intent.ledger for intent in episode.intents.all}
        slots = [_ledger_of(ledgers, key).slots[_own(key)] for key in said["slots"]]
        ledger = episode.intents.current.ledger
        # Where several intents are open, what one has not said may be what another says.
        yield said["text"], slots, ledger.unsaid() if len(ledgers) == 1 else [], ledger


def _own(key: str) -> str:
    head, _, rest = key.partition(":")
    return rest if head.isdigit() else key


def _ledger_of(ledgers: dict[str, Ledger], key: str) -> Ledger:
    head = key.partition(":")[0]
    return ledgers[head if head.isdigit() else "0"]


def _shares_words(ledger: Ledger, slot: Slot) -> bool:
    """Whether another slot holds the same words or number, so that saying it looks like saying this one."""
    values: list[Any] = []
    for other in ledger.slots.values():
        if other.key != slot.key:
            values += [other.value, other.label, *(saying.value for saying in ledger.sayings.get(other.key, []))]
    parts = slot.value if isinstance(slot.value, list | tuple) else [slot.value]
    texts = [str(value).casefold() for value in values]
    # "A low price" names a priority and would pass for odor: low.
    return any(
        str(part).casefold() in ("", "low", "high", "fast", "yes", "no")
        or any(str(part).casefold() in t for t in texts)
        for part in parts
    )
