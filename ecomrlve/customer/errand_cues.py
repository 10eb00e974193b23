"""What people ask with when it is about orders, returns, rules and projects.

Single words do not tell these questions apart: "when did it arrive" asks about a delivery that was, "when should it
arrive" about a wish; "a refund or store credit" about a method, "a refund or an exchange" about what is to happen. So
each topic has a pattern, matched against one lower-case sentence.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ecomrlve.customer.ledger import Slot
from ecomrlve.shop.questions import FACT_LABELS

KINDS = frozenset(("reference", "reason", "refund", "wish", "eta", "fact", "budget", "tie"))
_BUY = r"(?:buy|bought|order(?:ed)?|purchased?|placed?|pay|paid|made|make)"
_GET = r"(?:arrived?|deliver(?:ed)?|delivery|receive[d]?|come|came|get|got|show up)"
# Questions about something in the past, and about what is still to come. Only where both kinds of fact exist.
_PAST = re.compile(
    r"\b(did|was|were|had|have you|bought|ordered|paid|purchased|received|delivered|arrived|sending back|send back|"
    r"returning|return|going back|giving back|coming back|the old|your old|original|you've got|you got|goes back|"
    r"back then|on your receipt|at the time)\b"
)
_TO_COME = re.compile(
    r"\b(new one|new ones|(?:the|a|your|any) new|next|successor|replac\w*|another one|instead|suggest\w*|alternative|"
    r"substitute|would you like|do you want|should|looking for|prefer\w*|budget|willing|matters?|important|exchange|"
    r"must|may it|it may|in its place|stand-in|ought)\b"
)
# Which order or purchase it is: all that tells it.
_THING = r"(?:order|purchase|parcel|package)"
_WHICH = re.compile(
    "|".join(
        (
            rf"\b(?:which|what) (?:of (?:your|the|these|those) )?(?:one|{_THING})s?\b(?! (?:number|id|date|total))",
            r"\b(?:order|purchase) (?:details?|information|info)\b",
            rf"\bdetails? (?:of|about|on|for|regarding) (?:the|your|that|this) (?:{_THING}|product|item)",
            rf"\b(?:identify|find|locate|recogni[sz]e|look up|pin down|narrow down|work out) (?:(?:out )?which|the|your|that|this)(?: right)? {_THING}",
            rf"\b(?:which|what) {_THING} (?:is|was|do|does|did|are|were|you|this|it|that)\b|\bwhich (?:is it|of them|of those|one is it)\b",
            rf"\b(?:more than one|several|two|three|a few|some|many) (?:\w+ )?{_THING}s\b.*\bwhich\b",
            rf"\b(?:more|else|anything) (?:\w+ )?about (?:the|your|that|this) {_THING}",
            r"\bremember (?:anything )?about (?:it|the|your)\b",
        )
    )
)
_MONEY = r"\b(?:price|paid|pay|costs?|amount|spent|spend|charged?)\b"
_TOPICS: dict[str, tuple[str, ...]] = {
    "order_id": (
        r"(?<!phone )(?<!tracking )(?<!serial )(?<!model )(?<!card )\b(?:numbers?|ids?)\b(?! of)",
        r"\bwhich order\b",
        r"\border (?:no|code|reference)\b",
    ),
    "ordered_on": (
        rf"\bwhen\b.*\b{_BUY}\b",
        r"\b(?:order|purchase|buying|ordering) date",
        r"\bdates?\b(?! of (?:delivery|arrival))(?<!delivery date)(?<!arrival date)",
        r"\bhow long ago\b",
        rf"\b(?:what|which) (?:day|month)\b.*\b{_BUY}\b",
        r"\bhow many days\b.*\b(?:ago|since)\b",
        r"\bhow long\b.*\b(?:had|have|owned|since)\b",
    ),
    "delivered_on": (
        rf"\bwhen\b.*\b{_GET}\b",
        r"\b(?:delivery|arrival) date",
        r"\bdates?\b(?! (?:of|you) (?:order|purchase|bought))(?<!order date)(?<!purchase date)",
        rf"\b(?:what|which) day\b.*\b{_GET}\b",
    ),
    "paid": (_MONEY, r"\bhow much\b"),
    "order_total": (_MONEY, r"\bhow much\b", r"\b(?:total|sum|worth)\b", r"\border value\b"),
    "bought": (
        r"\b(?:which|what) (?:other |kind of |exact )?(?:product|item|thing|article|model)s?\b",
        r"\bwhat (?:exactly |else )?(?:did|have|had) you (?:buy|bought|ordered|order|purchased?|get)\b",
        r"\bwhat(?:'s| is| was| were| are| else was| else is) in\b",
        r"\bcontents?\b",
        r"\b(?:product|item) name\b|\bname of the (?:product|item)\b",
        r"\b(?:did|does) (?:it|the order) contain\b",
    ),
    "quantity": (r"\bhow many\b(?! days)", r"\b(?:quantity|pieces|units|copies)\b"),
    "reason": (
        r"\b(?:reasons?|why|wrong|problems?|issues?|faulty?|defect\w*|damaged?|broken|how come)\b",
        r"\bwhat happened\b",
        r"\bchanged? your mind\b",
        r"\bmatter with\b",
        r"\b(?:doesn't|didn't|not) (?:fit|like)\b",
    ),
    "refund": (
        r"\bcredit\b",
        r"\boriginal payment\b",
        r"\brefund (?:method|option|type|way)\b",
        r"\bmoney back (?:to|on|as|in)\b",
        r"\bhow\b.*\b(?:refund(?:ed)?|money back|paid back|reimbursed?)\b",
        r"\brefund (?:as|to|on|in|go|paid)\b",
        r"\b(?:which|what) (?:refund|payment) method\b",
        r"\bwhere should\b.*\b(?:refund|money)\b",
        r"\bback (?:to|on) your (?:card|account)\b",
    ),
    "wish": (
        r"\bexchang\w*|\bswap\w*|\breplaced?\b|\b(?:want|like|need|get|send you|or|prefer) (?:a )?replacement\b|\banother one\b"
        r"|\bsuggest\w*|\brecommend\w*|\bmoney (?:back )?(?:or|plus|and)\b",
        r"\b(?:just|only|simply) (?:a |the |want )?(?:refund|return)",
        r"\b(?:want|like|prefer|need|after) (?:a |your |the |to get (?:a|your) )?(?:refund|money back)\b"
        r"(?! (?:as|to|on|in|or (?:as )?store))",
        r"\bwhat (?:would|do|should)\b.*\b(?:do|happen|done)\b(?: (?:about|with|now|instead|for you)\b|\W*$)",
        r"\bhow (?:would|should|can|do)\b.*\b(?:resolve|proceed|handle|sort)\w*",
    ),
    "eta": (
        r"\barriv\w*|\beta\b|\bestimated?\b|\bexpected\b",
        r"\bdelivery (?:date|day|time|estimate)\b",
        r"\bwhen it (?:will|should|comes)\b",
    ),
    "budget": (
        r"\bbudget\b|\bspend\w*|\b(?:total|overall|altogether)\b|\bhow much\b|\bcost\b|\blimit\b",
        r"\bprice (?:limit|range|cap)\b",
    ),
    "tie": (r"\b(?:same|match\w*|compatib\w*)\b", r"\b(?:go|fit|work|belong) (?:together|with each other)\b"),
}
_PATTERNS = {topic: re.compile("|".join(patterns)) for topic, patterns in _TOPICS.items()}
# Facts of a case that are asked about like a reference.
_ALSO = {"days_since_purchase": "ordered_on", "amount": "paid"}
_EACH = re.compile(r"\b(each|every|parts?|items?|pieces?|individual\w*|single|separate\w*)\b")
_ALL = re.compile(r"\b(total|overall|altogether|everything|all|whole)\b")
ASKING = re.compile(r"\b(i('ll| will)? need|i require|give me|send me|provide|share|enter) (me )?(the|your|an?)\b")


@lru_cache(maxsize=512)
def past_or_to_come(sentence: str) -> str:
    """Whether a question is about what was ("past"), what is wanted ("to come"), or may be about either ("")."""
    past, to_come = bool(_PAST.search(sentence)), bool(_TO_COME.search(sentence))
    return "" if past == to_come else "past" if past else "to come"


@lru_cache(maxsize=8192)
def _matches(topic: str, sentence: str) -> bool:
    pattern = _PATTERNS.get(topic)
    return pattern is not None and pattern.search(sentence) is not None


@lru_cache(maxsize=512)
def asks_which(sentence: str) -> bool:
    """Whether a sentence asks which order or purchase it is."""
    return _WHICH.search(sentence) is not None


def asks(slot: Slot, sentence: str, named: bool) -> bool:
    """Whether a sentence asks about a slot of an errand by the topic it belongs to.

    Args:
        slot: A slot of one of `KINDS`.
        sentence: Lower-case text of one sentence.
        named: Whether it names an item.
    """
    if slot.kind == "budget" and named and not _ALL.search(sentence):
        return False
    if slot.kind == "reference" and asks_which(sentence):
        return True
    topic = slot.attribute if slot.kind in ("reference", "fact") else slot.kind
    topic = _ALSO.get(topic, topic)
    if topic in ("paid", "order_total") and past_or_to_come(sentence) == "to come":
        return False
    return _matches(topic, sentence)


def by_words(slot: Slot) -> tuple[str, ...]:
    """The words that a slot of an errand is asked about with besides its topic: those of its attribute, if any."""
    if slot.kind == "fact" and not _PATTERNS.keys() & {_ALSO.get(slot.attribute, slot.attribute)}:
        return (slot.label, *slot.synonyms, *FACT_LABELS.get(slot.attribute, ()))
    if slot.kind == "tie" or (slot.kind == "reference" and slot.attribute not in _PATTERNS):
        return (slot.label, slot.attribute.replace("_", " "), *slot.synonyms, "model", "exactly", "specific")
    return ()


def about_all(sentence: str) -> bool:
    """Whether a question about money is about all parts together and not about each of them."""
    return _matches("budget", sentence) and not _EACH.search(sentence)
