"""The words of the help pages.

A page must say all that decides, in one reading: bounds name the side they include ("$50 or more", "more than 15
days"), two conditions of a sentence are joined by "and" alone, and alternatives by "or" only where a sentence has a
single condition. The only digits besides list numbers are values that count.
"""

from __future__ import annotations

from fractions import Fraction

from ecomrlve.shop.policy_rules import Condition, Rule, dollars, written
from ecomrlve.shop.policy_topics import Topic
from ecomrlve.streams import Stream

_BOUNDS = {
    "ge": ("{v} or more", "at least {v}"),
    "gt": ("more than {v}", "over {v}"),
    "le": ("{v} or less", "at most {v}"),
    "lt": ("less than {v}", "under {v}"),
}
_TESTS: dict[str, tuple[str, ...]] = {
    "tier": (
        "the customer is a {v} member",
        "you are a {v} member",
        "the account has the membership level {v}",
        "the membership level is {v}",
    ),
    "region": (
        "the customer lives in the region {v}",
        "your home region is {v}",
        "the region on the account is {v}",
        "the delivery region is {v}",
    ),
    "department": (
        "the item is from the department {v}",
        "the item belongs to the department {v}",
        "the item was bought in the department {v}",
        "the department is {v}",
    ),
    "order_total": (
        "the order total is {v}",
        "the order comes to {v}",
        "the order is worth {v}",
        "the whole order costs {v}",
    ),
    "days_since_purchase": (
        "{v} have passed since the purchase",
        "{v} have gone by since the purchase",
        "it has been {v} since the purchase",
        "the time since the purchase is {v}",
    ),
    "quantity": (
        "the order consists of {v}",
        "the order contains {v}",
        "the order is for {v}",
        "the order holds {v} in all",
    ),
    "payment": (
        "the payment method is {v}",
        "the order was paid by {v}",
        "the payment was made by {v}",
        "you paid by {v}",
    ),
    "channel": (
        "the order was placed {v}",
        "you ordered {v}",
        "the purchase was made {v}",
        "the order was made {v}",
    ),
    "reason": ("{v}", "{v}", "{v}", "{v}"),
    "opened": ("the item {v}", "the package {v}", "the box {v}", "the original packaging {v}"),
}
_REASONS = {
    "damaged": ("the item arrived damaged", "the item was damaged on arrival"),
    "wrong_item": ("the wrong item was delivered", "we sent the wrong item"),
    "not_as_described": ("the item is not as described", "the item does not match its description"),
    "changed_mind": ("the customer changed their mind", "you have changed your mind"),
    "does_not_fit": ("the item does not fit", "the item turns out not to fit"),
    "arrived_late": ("the item arrived late", "the item arrived too late"),
}
_SAID = {
    "website": "on the website",
    "app": "in the app",
    "phone": "by phone",
    "opened": "has been opened",
    "unopened": "is unopened",
}

_INTROS = (
    "This page is about {noun}. {meaning}",
    "Here you can read how {noun} is worked out. {meaning}",
    "What exactly is {noun}, and how is it worked out? {meaning}",
    "You asked us about {noun}, so here is how it works. {meaning}",
)
_STANDARDS = (
    "The standard: {noun} is {v}.",
    "As a rule, {noun} is {v}.",
    "Unless something else is said below, {noun} is {v}.",
    "Normally {noun} is {v}.",
)
_CHOICES = (
    "The possible answers are: {v}.",
    "There are these possibilities: {v}.",
    "It is always one of the following: {v}.",
    "We know these possibilities: {v}.",
)
_EXCEPTION_HEADINGS = ("Exceptions", "Special cases", "When something else applies", "Exceptions to the standard")
_EXCEPTIONS = (
    "If {c}, {noun} is {v} instead.",
    "Where {c}, {noun} is {v}.",
    "{Noun} is {v} if {c}.",
    "Whenever {c}, {noun} is {v}.",
    "Provided that {c}, {noun} is {v}.",
)
_EXCLUSIONS = (
    "If {c}, the item cannot be returned ({v}).",
    "No return is possible where {c} ({v}).",
    "Whenever {c}, a return is ruled out ({v}).",
    "We do not take an item back if {c} ({v}).",
)
_FINAL = (
    "What cannot be returned stays so: the adjustments below do not change it.",
    "No adjustment below makes returnable what an exception rules out.",
    "Adjustments are not made where the item cannot be returned.",
    "The adjustments below are only for items that can be returned.",
)
_PRECEDENCES = {
    "first": (
        "If several of these exceptions apply, only the first of them in this list counts.",
        "Where more than one exception applies, go by the one listed first.",
        "Read the list from the top: the first exception that applies decides alone.",
        "Of several exceptions that apply, the one nearest to the top of the list decides.",
    ),
    "last": (
        "If several of these exceptions apply, only the last of them in this list counts.",
        "Where more than one exception applies, go by the one listed last.",
        "Read the list to its end: the last exception that applies decides alone.",
        "Of several exceptions that apply, the one nearest to the end of the list decides.",
    ),
    "best": (
        "If several of these exceptions apply, the one that is best for the customer counts: the {best} value.",
        "Where more than one exception applies, the customer gets the best of them, which is the {best} value.",
        "Of several exceptions that apply, the {best} value decides, as this is best for you.",
        "Several exceptions apply? Then the one with the {best} value counts, in your favor.",
    ),
}
_ADJUSTMENT_HEADINGS = ("Adjustments", "Additions and reductions", "What is added or taken off", "Further adjustments")
_ADJUSTMENT_LEADS = (
    "Every one of these that applies is made, on top of the value found so far:",
    "After that, all of the following that apply are added up with the value found above:",
    "Then the value found above changes by each of these that applies:",
    "Each of these that applies is made as well, on the value found above:",
)
_INCREASES = (
    "If {c}, add {v}.",
    "{Noun} goes up by {v} if {c}.",
    "Where {c}, {noun} rises by {v}.",
    "Whenever {c}, {v} must be added.",
)
_DECREASES = (
    "If {c}, subtract {v}.",
    "{Noun} goes down by {v} if {c}.",
    "Where {c}, {noun} falls by {v}.",
    "Whenever {c}, {v} must be subtracted.",
)
_FLOORS = (
    "The result is never below zero.",
    "A result below zero counts as zero.",
    "However much is taken off, the result does not fall below zero.",
    "Nothing goes below zero in the end.",
)
_CLOSINGS = (
    "These rules hold for all orders made in this shop, and nothing else on our help pages changes them.",
    "Nothing but what is written on this page decides, so please keep it at hand for later.",
    "That is all there is to it. Our team is glad to help with anything that is still unclear.",
    "No other page of our help pages changes what is said here. Thank you for shopping with us.",
)


def page_text(
    topic: Topic,
    title: str,
    base: Fraction | str,
    exceptions: list[Rule],
    adjustments: list[Rule],
    precedence: str,
    stream: Stream,
) -> str:
    """Write a page.

    Args:
        topic: Its subject.
        title: Its heading.
        base: Standard value.
        exceptions: In the order in which "first" and "last" count.
        adjustments: What is added afterwards.
        precedence: See `Page.precedence`.
        stream: Chooses the wordings.
    """
    noun = stream.choice(topic.nouns)
    parts = [title, stream.choice(_INTROS).format(noun=noun, meaning=stream.choice(topic.meaning))]
    if topic.choices:
        parts.append(stream.choice(_CHOICES).format(v=", ".join(stream.shuffled(topic.choices))))
    parts.append(stream.choice(_STANDARDS).format(noun=noun, v=_amount(base, topic)))
    parts += ["", stream.choice(_EXCEPTION_HEADINGS)]
    numbered = stream.chance(0.5)
    for place, rule in enumerate(exceptions, 1):
        frames = _EXCLUSIONS if rule.amount == 0 else _EXCEPTIONS
        parts.append((f"{place}. " if numbered else "- ") + _sentence(frames, rule, topic, noun, stream))
    if precedence:
        kind = "best" if precedence == topic.better else precedence
        parts.append(stream.choice(_PRECEDENCES[kind]).format(best=precedence))
    if adjustments:
        if any(rule.amount == 0 for rule in exceptions):
            parts.append(stream.choice(_FINAL))
        parts += ["", stream.choice(_ADJUSTMENT_HEADINGS), stream.choice(_ADJUSTMENT_LEADS)]
        for rule in adjustments:
            frames = _INCREASES if _number(rule) > 0 else _DECREASES
            parts.append("- " + _sentence(frames, rule, topic, noun, stream))
        if any(_number(rule) < 0 for rule in adjustments):
            parts.append(stream.choice(_FLOORS))
    return "\n".join([*parts, "", stream.choice(_CLOSINGS)])


def _number(rule: Rule) -> Fraction:
    return rule.amount if isinstance(rule.amount, Fraction) else Fraction(0)


def _sentence(frames: tuple[str, ...], rule: Rule, topic: Topic, noun: str, stream: Stream) -> str:
    clause = " and ".join(_clause(condition, stream) for condition in rule.conditions)
    if rule.effect == "add":
        size = abs(_number(rule))
        # "5 %" of what? Points say that the two numbers are simply added.
        value = f"{size} percentage point{'' if size == 1 else 's'}" if topic.unit == "%" else written(size, topic.unit)
    else:
        value = _amount(rule.amount, topic)
    text = stream.choice(frames).format(c=clause, v=value, noun=noun, Noun=noun[0].upper() + noun[1:])
    return text[0].upper() + text[1:]


def _amount(amount: Fraction | str, topic: Topic) -> str:
    text = written(amount, topic.unit)
    return f"{text} per dollar" if topic.unit == "points" else text


def _clause(condition: Condition, stream: Stream) -> str:
    attribute = condition.attribute
    frame = stream.choice(_TESTS[attribute])
    if condition.operator != "in":
        bound: int = condition.values[0]
        plural = "" if bound == 1 else "s"
        if attribute == "order_total":
            value = dollars(bound)
        else:
            value = f"{bound} {'unit' if attribute == 'quantity' else 'day'}{plural}"
        return frame.format(v=stream.choice(_BOUNDS[condition.operator]).format(v=value))
    if attribute == "reason":
        return " or ".join(stream.choice(_REASONS[code]) for code in condition.values)
    return frame.format(v=" or ".join(_SAID.get(value, value) for value in condition.values))
