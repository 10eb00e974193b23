"""A second opinion on help pages: it reads their text, and works out what they say for a case.

The shop draws a page as a structure and prints it; this reader knows the print alone. Where both come to the same value
for every question, the texts say what the shop means. It goes by cue words, sentence by sentence, and refuses a page of
which it does not understand a sentence that states something: a wrong value would be worse than none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from ecomrlve.agents.policy_reader_conditions import (
    AMOUNT,
    Condition,
    UnreadablePage,
    amount_of,
    exact,
    read_conditions,
)

__all__ = ["PolicyPage", "Rule", "UnreadablePage", "answer_question", "read_page"]

FIRST, LAST, HIGHEST, LOWEST = "first", "last", "highest", "lowest"
REPLACE, CHANGE, RULE_OUT = "replace", "change", "rule out"

# Which of several exceptions decides. A sentence on precedence must point to one of these ways only.
PRECEDENCE = {
    FIRST: re.compile(r"\b(?:first|(?<!on )top|beginning|start)\b"),
    LAST: re.compile(r"\b(?:last|end|bottom)\b"),
    HIGHEST: re.compile(r"\b(?:highest|largest|greatest|longest)\b"),
    LOWEST: re.compile(r"\b(?:lowest|smallest|least|shortest)\b"),
}
DECIDES = re.compile(r"\b(?:decides?|counts?|applies|gets|wins|go by)\b")
OF_SEVERAL = re.compile(r"\b(?:exceptions?|list|the one)\b")
DENIES = re.compile(r"\b(?:not|no|never|nothing|neither|ignored?|except|but)\b", re.IGNORECASE)
CUMULATIVE = re.compile(r"\b(?:each|every|all)\b.*\b(?:apply|applies)\b", re.IGNORECASE)
FLOOR = re.compile(r"\bbelow zero\b")
FLOOR_KEPT = re.compile(r"\b(?:never|nothing|not|counts as zero|no)\b", re.IGNORECASE)
GUARD = re.compile(r"\badjustments?\b.*\breturn(?:ed|able)\b|\breturn(?:ed|able)\b.*\badjustments?\b", re.IGNORECASE)
GUARD_KEPT = re.compile(r"\b(?:not|no|never|only)\b", re.IGNORECASE)
CHOICES = re.compile(r"(?:possibilities|possible answers|one of the following|choices|options)[^:]*: (?P<list>.+)")

STANDARD = re.compile(
    r"(?:(?:As a rule|Normally|Usually|In general|By default|Unless something else [^,:]+|The standard)[,:]? )?"
    r"(?P<subject>[Tt]he .+) is (?P<value>\S.*)"
)
LEADING = re.compile(r"(?:If|Where|Whenever|When|Provided that|In case|As long as) ")
TRAILING = re.compile(r" (?:if|where|whenever|when|provided that|in case|as long as) ")
EFFECT_IS = re.compile(r"(?P<subject>\S.*) is (?P<value>\S.*?)(?: instead)?")
EFFECT_BY = re.compile(
    rf"(?P<subject>\S.*?) (?:(?P<up>rises|goes up|grows|increases|is (?:raised|increased))"
    rf"|falls|goes down|drops|decreases|is (?:reduced|lowered)) by {AMOUNT}"
)
EFFECT_ORDER = re.compile(rf"(?:(?P<up>add)|subtract|deduct|take off) {AMOUNT}", re.IGNORECASE)
EFFECT_MUST = re.compile(rf"{AMOUNT} (?:must be|is|are) (?:(?P<up>added)|subtracted|deducted|taken off)")
RULED_OUT = re.compile(
    r"(?:no (?:return|exchange)s? (?:is|are) possible|(?:a |the )?(?:return|exchange) is (?:ruled out|not possible)"
    r"|(?:the|an) item cannot be (?:returned|sent back|exchanged)|we do not (?:take|accept) (?:the|an) item back)",
    re.IGNORECASE,
)
# "(0 days)" behind a sentence that rules something out says it in numbers.
ASIDE = re.compile(r" \(([^()]*)\)")
WHOLE_AMOUNT = re.compile(AMOUNT)
BULLET = re.compile(r"(?:\d+[.)]|[-•*]) ")
SENTENCE_END = re.compile(r"(?<=[.!?]) +(?=[A-Z])")
# Words with which a sentence states something of a case or of a value: one that is not understood is refused.
FACTS = (
    r"\d|\$|%|\b(?:half|halved|doubled?|twice|waived|[Mm]embership|[Mm]embers?|[Rr]egions?|[Dd]epartments?|units?"
    r"|opened|unopened|[Pp]aid by|[Pp]ayment|website|app|phone|damaged|Basic|Silver|Gold|Platinum"
    r"|Mainland|Islands|Highlands|Overseas|bank transfer|installments|store credit)\b"
)
CONDITIONS = r"\b(?:[Ii]f|[Ww]here|[Ww]henever|[Pp]rovided|[Uu]nless|[Ee]xcept|[Oo]nly|zero)\b"
# Words that are also needed to say what a page is about ("we add a free gift", "after a late delivery").
OUTSIDE_DEFINITIONS = (
    r"\b(?:free|late|first|last|(?<!on )top|end|highest|lowest|best|[Aa]dd|[Ss]ubtract|rises|falls|gift card)\b"
)
STATES = re.compile(f"{FACTS}|{CONDITIONS}|{OUTSIDE_DEFINITIONS}")
NOT_IN_DEFINITION = re.compile(f"{FACTS}|{CONDITIONS}")
# A sentence on the page as a whole (which exception decides, what stops at zero) may not speak of a case besides.
NOT_ABOUT_THE_PAGE = re.compile(FACTS)

MONEY_BACK = re.compile(
    r"\b(?:get back|be refunded|refunded after|what is left of|money I get back|money back|how many dollars)\b"
)
DAYS_LEFT = re.compile(r"\b(?:left|more days|from today|runs? out|still have|remain(?:s|ing)?)\b")

Value = Fraction | str


@dataclass(frozen=True)
class Rule:
    """An exception or an adjustment: where all conditions hold, it puts `value` in place, or adds it.

    `kind` is "replace", "change" (`value` is added and may be negative) or "rule out" (the value is zero, for good if
    the page says so). `text` is the sentence it was read from.
    """

    conditions: tuple[Condition, ...]
    kind: str
    value: Value
    text: str

    def applies(self, case: Mapping[str, Any]) -> bool:
        """Whether every condition holds; raises KeyError naming a fact that the case lacks."""
        return all(condition.holds(case) for condition in self.conditions)


@dataclass(frozen=True)
class PolicyPage:
    """What a help page says: a standard value, exceptions to it, which of them decides, and adjustments afterwards.

    `unit` is "$", "%", "points", "days", "hours" or "months", or "" where the value is one of `choices`. `floor` tells
    whether a value below zero counts as zero, `guard` whether adjustments leave alone what an exception rules out.
    """

    topic: str
    unit: str
    choices: tuple[str, ...]
    standard: Value
    exceptions: tuple[Rule, ...]
    precedence: str
    adjustments: tuple[Rule, ...]
    floor: bool
    guard: bool

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """The facts of a case that the page's conditions test, in the order in which the page names them."""
        rules = self.exceptions + self.adjustments
        return tuple(dict.fromkeys(condition.attribute for rule in rules for condition in rule.conditions))

    def value(self, case: Mapping[str, Any]) -> Value:
        """What the page says for a case; raises KeyError naming a fact it tests that the case lacks.

        Every fact the page tests is asked for, also where the others happen to decide: whoever asks with half a case
        learns so at once, and not only in some cases.
        """
        for attribute in self.attributes:
            if attribute not in case:
                raise KeyError(attribute)
        decisive = self._decisive([rule for rule in self.exceptions if rule.applies(case)])
        value = decisive.value if decisive else self.standard
        if isinstance(value, str) or (decisive and decisive.kind == RULE_OUT and self.guard):
            return value
        for adjustment in self.adjustments:
            if adjustment.applies(case):
                value += exact(adjustment.value)
        return max(value, Fraction(0)) if self.floor else value

    def _decisive(self, applying: list[Rule]) -> Rule | None:
        """The exception that decides among those that apply."""
        if not applying:
            return None
        if self.precedence in (HIGHEST, LOWEST):
            pick = max if self.precedence == HIGHEST else min
            return pick(applying, key=lambda rule: exact(rule.value))
        return applying[-1] if self.precedence == LAST else applying[0]


def unreadable(sentence: str, why: str) -> UnreadablePage:
    """The error for a sentence, quoted in full: whoever wrote the page wants to find it."""
    return UnreadablePage(f"{why}: {sentence!r}")


@lru_cache(maxsize=4096)
def _is_cumulative(sentence: str) -> bool:
    """Whether a sentence says that all adjustments that apply are made; pages share such sentences, so it is kept."""
    return bool(CUMULATIVE.search(sentence)) and not STATES.search(sentence) and not DENIES.search(sentence)


class _Reading:
    """One reading of one page: sentences go in, in the order of their kinds, and a page comes out."""

    def __init__(self, text: str) -> None:
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        self.sentences: list[str] = []
        self.bullets: list[tuple[str, bool]] = []
        self.cumulative = self.floor = self.guard = False
        self.choices: tuple[str, ...] = ()
        self.standard: Value | None = None
        self.topic = self.unit = self.precedence = ""
        for number, line in enumerate(lines):
            marker = BULLET.match(line)
            if marker:
                self.bullets.append((line[marker.end() :], self.cumulative))
            elif number == 0 and line[-1] not in ".:;!" and not re.search(r"\d", line):
                continue  # The title only names the topic.
            else:
                for sentence in SENTENCE_END.split(line):
                    self.cumulative = self.cumulative or _is_cumulative(sentence)
                    self.sentences.append(sentence)

    def page(self) -> PolicyPage:
        """Read everything. Choices come first because they tell what a value may be, bullets last."""
        rest = [sentence for sentence in self.sentences if not self._read_choices(sentence)]
        for sentence in rest:
            self._read(sentence)
        if self.standard is None:
            raise UnreadablePage("the page states no standard value")
        rules = [self._rule(text, cumulative) for text, cumulative in self.bullets]
        exceptions = tuple(rule for rule in rules if rule.kind != CHANGE)
        adjustments = tuple(rule for rule in rules if rule.kind == CHANGE)
        if len(exceptions) > 1 and not self.precedence:
            raise UnreadablePage("the page does not say which of its exceptions decides")
        if len(adjustments) > 1 and not self.cumulative:
            raise UnreadablePage("the page does not say whether all of its adjustments are made")
        if self.choices and (adjustments or self.precedence in (HIGHEST, LOWEST)):
            raise UnreadablePage("the page counts with a value that is no number")
        return PolicyPage(
            self.topic, self.unit, self.choices, self.standard, exceptions, self.precedence, adjustments,
            self.floor, self.guard,
        )  # fmt: skip

    def _read_choices(self, sentence: str) -> bool:
        match = CHOICES.search(sentence)
        if not match:
            return False
        choices = tuple(re.split(r", (?:and |or )?| and | or ", match["list"].rstrip(".")))
        if self.choices or len(choices) < 2 or len(set(choices)) < len(choices):
            raise unreadable(sentence, "not a list of choices, or a second one")
        self.choices = choices
        return True

    def _read(self, sentence: str) -> None:
        """Take in a sentence that is no bullet: what it states, or that it states nothing."""
        if FLOOR.search(sentence):
            self.floor = understood = self._is_about_the_page(sentence, FLOOR_KEPT)
        elif GUARD.search(sentence):
            self.guard = understood = self._is_about_the_page(sentence, GUARD_KEPT)
        elif OF_SEVERAL.search(sentence) and any(cue.search(sentence) for cue in PRECEDENCE.values()):
            understood = self._read_precedence(sentence)
        else:
            understood = self._read_standard(sentence) or _is_cumulative(sentence) or self._is_idle(sentence)
        if not understood:
            raise unreadable(sentence, "not understood")

    @staticmethod
    def _is_about_the_page(sentence: str, cue: re.Pattern[str]) -> bool:
        return bool(cue.search(sentence)) and not NOT_ABOUT_THE_PAGE.search(sentence)

    def _read_precedence(self, sentence: str) -> bool:
        ways = [way for way, cue in PRECEDENCE.items() if cue.search(sentence)]
        if len(ways) != 1 or not self._is_about_the_page(sentence, DECIDES):
            return False
        if DENIES.search(sentence) or "adjustment" in sentence:
            return False
        if self.precedence not in ("", ways[0]):
            raise unreadable(sentence, "contradicts another sentence on which exception decides")
        self.precedence = ways[0]
        return True

    def _read_standard(self, sentence: str) -> bool:
        match = STANDARD.fullmatch(sentence.removesuffix("."))
        if not match:
            return False
        amount = WHOLE_AMOUNT.fullmatch(match["value"])
        if not amount and match["value"] not in self.choices:
            return False
        if self.standard is not None:
            raise unreadable(sentence, "a second standard value")
        self.topic = match["subject"].lower()
        if amount and not self.choices:
            found = amount_of(amount)
            self.standard, self.unit = found.number, found.unit
        elif not amount:
            self.standard = match["value"]
        return self.standard is not None

    def _is_idle(self, sentence: str) -> bool:
        """Whether a sentence only says what the page is about, or nothing at all."""
        if any(choice in sentence for choice in self.choices):
            return False
        # What a page is about is said before the standard value; once that is stated, the topic's name means a rule.
        if self.standard is None:
            return not NOT_IN_DEFINITION.search(sentence)
        return not STATES.search(sentence) and self.topic not in sentence.lower()

    def _rule(self, text: str, cumulative: bool) -> Rule:
        """Read a bullet: a condition and an effect, in either order, parted in the one way that makes sense of both."""
        words = text.removesuffix(".")
        aside = ASIDE.search(words)
        if aside:
            words = words[: aside.start()] + words[aside.end() :]
        partings = [
            (words[lead.end() : comma.start()], words[comma.end() :])
            for lead in (LEADING.match(words),)
            if lead
            for comma in re.finditer(r", (?:then )?", words)
        ] or [(words[joint.end() :], words[: joint.start()]) for joint in TRAILING.finditer(words)]
        readings = []
        for condition, effect in partings:
            conditions, meant = read_conditions(condition), self._effect(effect)
            if conditions and meant:
                readings.append(Rule(conditions, *meant, text))
        if len(readings) != 1:
            raise unreadable(text, "not understood")
        if aside and (readings[0].kind != RULE_OUT or not self._is_nothing(aside[1])):
            raise unreadable(text, "the words in parentheses do not fit the sentence")
        if cumulative and readings[0].kind != CHANGE:
            raise unreadable(text, "an exception among the adjustments")
        return readings[0]

    def _is_nothing(self, words: str) -> bool:
        amount = WHOLE_AMOUNT.fullmatch(words)
        return amount is not None and amount_of(amount).number == 0 and amount_of(amount).unit == self.unit

    def _effect(self, words: str) -> tuple[str, Value] | None:
        """What a rule does: its kind and value, or None if the words are no effect on this page's value."""
        if RULED_OUT.fullmatch(words):
            return (RULE_OUT, Fraction(0)) if not self.choices else None
        for cue in (EFFECT_BY, EFFECT_ORDER, EFFECT_MUST):
            change = cue.fullmatch(words)
            if change and (cue is not EFFECT_BY or self._names_topic(change["subject"])):
                found = amount_of(change)
                return (CHANGE, found.number if change["up"] else -found.number) if found.unit == self.unit else None
        match = EFFECT_IS.fullmatch(words)
        if not match or not self._names_topic(match["subject"]):
            return None
        if self.choices:
            return (REPLACE, match["value"]) if match["value"] in self.choices else None
        amount = WHOLE_AMOUNT.fullmatch(match["value"])
        return (REPLACE, amount_of(amount).number) if amount and amount_of(amount).unit == self.unit else None

    def _names_topic(self, subject: str) -> bool:
        return subject.lower() in (self.topic, "it", "the value")


@lru_cache(maxsize=4096)
def read_page(text: str) -> PolicyPage:
    """Read a help page as an agent sees it; raises UnreadablePage with the sentence that is not understood."""
    return _Reading(text).page()


def answer_question(page: PolicyPage, question_text: str, case: Mapping[str, Any], amount: Fraction | None) -> Value:
    """Answer a customer's question from the page that it is about.

    Args:
        page: The page.
        question_text: The customer's clause, such as "how many more days I can exchange it".
        case: The facts at hand, with all that the page tests.
        amount: The dollars that the question is about, if any.

    Returns:
        What the page says; or, as the question asks for it, how many days of a period are left (the period less
        `days_since_purchase`), or the dollars that remain of `amount` after a fee in percent.
    """
    value = page.value(case)
    if isinstance(value, str):
        return value
    if page.unit == "%" and MONEY_BACK.search(question_text):
        if amount is None:
            raise ValueError(f"a question about money without an amount: {question_text!r}")
        return amount * (100 - value) / 100
    if page.unit == "days" and DAYS_LEFT.search(question_text):
        return value - exact(case["days_since_purchase"])
    return value
