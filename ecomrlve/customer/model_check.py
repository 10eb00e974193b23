"""Whether a language model's words may stand for the grammar's draft: they say all of it, and nothing besides.

The draft is true by construction, so it is the measure: a number, a name, a value, a question or an id that stands in
it is allowed, any other is not. It is better to refuse a good message, which costs one more try, than to let pass one
that says something else than the ledger records.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations

from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.mentions import mentions, names_item, yes_or_no
from ecomrlve.customer.model_prompt import fact
from ecomrlve.customer.model_text import LIST, Text, Word, negates, words_of
from ecomrlve.customer.phrases import label_of
from ecomrlve.customer.values import WEEKS
from ecomrlve.customer.words import bare, is_number, number

MOST_CHARACTERS = 600
_MARKUP = re.compile(r"[*_`#~^|\\<>{}\[\]=@]")
_ADDRESS = re.compile(r"https?:|www\.|\w\.(?:com|net|org|io|co)\b", re.IGNORECASE)
_ID = re.compile(r"(?<![^\W_])(?=[a-z]*\d)[a-z][0-9a-hjkmnp-tv-z]{7}(?![^\W_])", re.IGNORECASE)
# What stands before or behind a number and makes a limit of it. "More" and "less" turn round behind a negation.
_UP = {"over", "above", "more", "exceed", "exceeds", "exceeding", "beyond", "longer", "higher", "greater", "better",
       "upwards", "larger", "bigger"}  # fmt: skip
_DOWN = {"under", "below", "less", "fewer", "lower", "cheaper", "smaller", "shorter", "lighter"}
_MOST = {"most", "max", "maximum", "within", "budget", "limit", "latest", "tops", "spend", "afford"}
_LEAST = {"least", "min", "minimum", "earliest", "starting"}
_BEFORE, _AFTER = 6, 7  # words in which such a cue is looked for
_ANOTHER = {"new", "replacement", "replacements", "another"}
_JOINTS = {"and", "but", "with"}
_ADDS = {"add", "adds", "added", "come", "comes", "came"}
_SECOND = {"after", "second", "secondly", "second-most", "then", "next", "also", "followed", "besides", "secondary"}
_WORD_KINDS = ("constraint", "variant", "identify", "type", "part")
_NUMBER_WORDS = {word: str(count) for count, word in enumerate(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty".split(), 2)} | {
    "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90",
    "hundred": "100", "thousand": "1000", "dozen": "12", "half": "0.5", "couple": "2", "zero": "0", "twice": "2",
}  # fmt: skip
# Words that say something of a product or its sale, by what they are about: to use one where the draft uses none of
# its kind, and no fact is about it, is to invent a wish.
_SUBJECTS: dict[str, frozenset[str]] = {name: frozenset(words.split()) for name, words in {
    "price": "price prices priced pricey cheap cheaper cheapest affordable inexpensive expensive budget bargain costly",
    "rating": "rating ratings rated review reviews star stars popular bestseller bestselling acclaimed",
    "ship_days": "delivery delivered shipping ship ships express overnight tomorrow tonight weekend asap urgent "
    "urgently deadline",
    "brand": "brand brands branded manufacturer",
    "color": "color colors colour colours colored coloured",
    "size": "size sizes sized",
    "material": "material materials fabric",
    "warranty": "warranty guarantee guaranteed",
    "discount": "discount discounts coupon coupons sale promo voucher",
    "condition": "refurbished secondhand used",
    "occasion": "gift gifts birthday wedding anniversary christmas",
    "quality": "quality durable sturdy premium luxury luxurious professional",
}.items()}  # fmt: skip
_VALUES = frozenset(
    "black white red blue green yellow orange purple pink grey gray brown beige navy teal turquoise ivory silver gold "
    "leather cotton wool linen silk polyester nylon plastic metal steel aluminum aluminium wooden bamboo glass ceramic "
    "rubber silicone waterproof wireless bluetooth lightweight portable compact organic vegan sustainable handmade "
    "foldable rechargeable adjustable washable breathable ergonomic".split()
)
# Values of some attribute that customers use without thinking of it.
_EVERYDAY = frozenset(
    "yes no none all one other any both open back front check light touch long short wide star high low strong fine "
    "natural plain regular original classic double straight fixed split dry raw mixed mid app desk wall phone standard "
    "sensitive dark clear flat even hook stick good new full free online single right left palm arc bar dial".split()
)
_HARMLESS_CAPITALS = frozenset(
    "i i'm i'd i'll i've ok okay hi hello hey yes no thanks thank please the a an my it it's that that's this is are "
    "can could do would and but so just also for need looking what when where how we you as in if".split()
)
_HARMLESS_NEGATIONS = re.compile(r"\bno (?:rush|problem|worries|hurry)\b|\bwhy not\b", re.IGNORECASE)
_ASSISTANT = re.compile(
    r"(?:how|what) (?:can|may) I (?:help|assist|do for)|\bas an AI\b|language model|\bI(?:'m| am) an AI\b"
    r"|\bI(?:'m| am) (?:an?|your) (?:\w+ )?assistant|(?:happy|glad|here) to (?:help|assist) (?:you|with)"
    r"|anything else I can|we (?:offer|carry|sell|recommend)\b|our (?:store|shop|catalog|selection|range)\b"
    r"|rephras|reword|rewritten|paraphras|the customer\b|\b(?:message|prompt|persona|draft)\b.{0,20}:"
    r"|I can(?:'t|not) (?:assist|comply|help you)",
    re.IGNORECASE,
)


def objections(
    text: str,
    slots: Sequence[Slot],
    withheld: Sequence[Slot],
    draft: str,
    *,
    vocabulary: frozenset[str] = frozenset(),
    names: Sequence[str] = (),
) -> list[str]:
    """What is wrong with a text that a model wrote in place of the draft, in plain words; empty where it is good.

    Args:
        text: What `model_text.plain` made of the model's answer.
        slots: The slots that it must carry.
        withheld: Slots that it must not carry.
        draft: The grammar's words for the same.
        vocabulary: Lower-case words that values of attributes consist of, besides those of the slots.
        names: What it must name in just these words, such as titles of products, if the draft does.
    """
    found = _shape(text, draft)
    if found:
        # What else is wrong with a text of such a shape would only repeat it.
        return found
    given, said = Text(draft), Text(text)
    found += _missing(said, given, slots, names)
    found += [
        f"It says something of the {label_of(slot)}, which is not among the facts."
        for slot in withheld
        if mentions(text, slot) and not mentions(draft, slot)
    ]
    found += _turned(said, given, slots)
    found += _mixed_up(text, draft, slots)
    found += _invented(said, given, (*slots, *withheld), slots, vocabulary)
    if "?" in text and "?" not in draft:
        found.append("It asks a question, and the example asks none.")
    role = _ASSISTANT.search(text)
    if role and role.group().lower() not in draft.lower():
        found.append("It does not speak as the customer.")
    if not slots and not names and _says_no(text) and not _says_no(draft):
        found.append("It denies something, and the example does not.")
    return list(dict.fromkeys(found))


# --- the text as such


def _says_no(text: str) -> bool:
    return any(negates(word.text) for word in words_of(_HARMLESS_NEGATIONS.sub("", text)))


def _shape(text: str, draft: str) -> list[str]:
    if not any(character.isalnum() for character in text):
        return ["It is empty."]
    if len(text) > min(max(MOST_CHARACTERS, 2 * len(draft)), 4 * len(draft) + 200):
        return ["It is too long."]
    strange = {character for character in text if not character.isascii() and character not in draft}
    strange |= {character for character in text if ord(character) < 32 or ord(character) == 127}
    if any(_is_strange(character) for character in strange):
        return ["It must be plain English on one line, with ordinary letters and digits."]
    if LIST.search(text) or set(_MARKUP.findall(text)) - set(_MARKUP.findall(draft)):
        return ["It must be plain text without markup or lists."]
    if _ADDRESS.search(text) and not _ADDRESS.search(draft):
        return ["It must not hold an address."]
    return []


def _is_strange(character: str) -> bool:
    kind = unicodedata.category(character)
    if kind.startswith("C") or kind in ("Sc", "Zl", "Zp") or unicodedata.numeric(character, None) is not None:
        return True
    return kind.startswith(("L", "M")) and "LATIN" not in unicodedata.name(character, "")


# --- all that must be said


def _missing(said: Text, given: Text, slots: Sequence[Slot], names: Sequence[str]) -> list[str]:
    found = []
    for slot in slots:
        if not mentions(said.raw, slot):
            found.append(f"It does not say, in words that can be recognised: {fact(slot)}.")
        elif not names_item(said.raw, slot) and names_item(given.raw, slot):
            found.append(f"It does not name the {bare(slot.item_name)}.")
    for name in names:
        if given.places(bare(name)) and not said.places(bare(name)):
            found.append(f'It does not speak of "{bare(name)}".')
    if given.phrases & {"new one", "new ones"} and not said.bag & _ANOTHER:
        found.append("It must say what is about the new one, which is to come in place of what goes back.")
    return found


# --- facts that are said, but turned round


def _turned(said: Text, given: Text, slots: Sequence[Slot]) -> list[str]:
    found = []
    for slot in slots:
        values = slot.value if isinstance(slot.value, list | tuple) else (slot.value,)
        if is_number(slot.value):
            meant, got = _limits(given, slot), _limits(said, slot)
            wanted = slot.operator if slot.kind in ("constraint", "budget") and slot.operator in ("le", "ge") else ""
            if (wanted in meant - got) if wanted else (got and not meant):
                limit = {"le": "at most", "ge": "at least"}.get(wanted, "exactly")
                found.append(f"It must say {limit} {number(slot.value)}: {fact(slot)}.")
        elif slot.kind not in _WORD_KINDS or yes_or_no(slot.value) is not None:
            continue
        elif any(_only_denied(said, str(one)) and not _only_denied(given, str(one)) for one in values):
            found.append(f"It denies what the customer wants: {fact(slot)}.")
    return found + _ranked(said, given, [slot for slot in slots if slot.kind == "priority"])


def _only_denied(text: Text, value: str) -> bool:
    places = text.places(bare(value))
    return bool(places) and all(text.denied(place) for place in places)


def _limits(text: Text, slot: Slot) -> set[str]:
    """What kind of limit the slot's number is, wherever it stands: "le", "ge", or nothing where it is none."""
    wanted = number(slot.value)
    places = [at for at, word in enumerate(text.words) if wanted in (word.text, _NUMBER_WORDS.get(word.text))]
    places += text.places(WEEKS.get(slot.value, ""))
    # "A maximum load of 10 kg or more": the label's own words limit nothing.
    label = frozenset(word.text for word in words_of(label_of(slot)) if slot.kind != "budget")
    found = set()
    for place in places:
        cue = "ge" if text.words[place].plus else _cue_before(text.words, place, label)
        found.add(cue or _cue_behind(text.words, place))
    return found & {"le", "ge"}


def _cue_before(words: Sequence[Word], place: int, label: frozenset[str]) -> str:
    for at in range(place - 1, max(-1, place - 1 - _BEFORE), -1):
        word, before = words[at], words[at - 1].text if at else ""
        elsewhere = word.clause != words[place].clause or word.sentence != words[place].sentence
        if word.is_number or elsewhere or word.text in _JOINTS:
            return ""
        if word.text in ("exactly", "precisely"):
            return "eq"
        if word.text in label or (before, word.text) == ("one", "more"):
            continue
        if (before, word.text) == ("up", "to") and not (at > 1 and words[at - 2].text in _ADDS):
            return "le"
        if word.text in _MOST or word.text in _LEAST:
            return "le" if word.text in _MOST else "ge"
        if word.text in _UP or word.text in _DOWN:
            # "3 years or more and for $28": that was about the number before.
            return "" if before == "or" else _side(words, at)
    return ""


def _side(words: Sequence[Word], at: int) -> str:
    """Which limit "more", "under" and the like set, which a negation turns round: "no less than"."""
    turned = False
    for word in reversed(words[max(0, at - 5) : at]):
        if word.clause != words[at].clause or word.is_number or word.text in _JOINTS:
            break
        turned = turned or negates(word.text)
    return "le" if (words[at].text in _DOWN) != turned else "ge"


def _cue_behind(words: Sequence[Word], place: int) -> str:
    for at in range(place + 1, min(len(words), place + 1 + _AFTER)):
        word = words[at]
        if word.is_number or word.clause != words[place].clause:
            return ""
        if word.text in _MOST or word.text in _DOWN:
            return "le"
        if word.text in _LEAST or word.text in _UP or (words[at - 1].text, word.text) == ("and", "up"):
            return "ge"
    return ""


def _ranked(said: Text, given: Text, ranked: Sequence[Slot]) -> list[str]:
    """Whether what matters first and what matters second have changed places."""
    orders = [[_first_place(text, slot) for slot in ranked] for text in (said, given)]
    if len(ranked) > 1 and [orders[0].index(at) for at in sorted(orders[0])] != [
        orders[1].index(at) for at in sorted(orders[1])
    ]:
        return ["It must keep the order of what matters."]
    alone = len(ranked) == 1 and ranked[0].rank == 2
    if alone and given.bag & _SECOND and not said.bag & _SECOND:
        return [f"It must say that this comes second: {fact(ranked[0])}."]
    if len(ranked) == 1 and ranked[0].rank == 1 and "second" in said.bag - given.bag:
        return [f"It must say that this comes first: {fact(ranked[0])}."]
    return []


def _first_place(text: Text, slot: Slot) -> int:
    about = _SUBJECTS.get(slot.attribute, frozenset()) | {"cost", "arrive", "arrives", "fast", "quick", "quickly"}
    known = {
        "price": about - {"arrive", "arrives", "fast", "quick", "quickly"}, "ship_days": about - {"cost"},
        "rating": _SUBJECTS["rating"], "brand": _SUBJECTS["brand"],
    }.get(slot.attribute, {word.text for word in words_of(label_of(slot))})  # fmt: skip
    if slot.attribute == "brand" and slot.value and text.places(str(slot.value)):
        return text.places(str(slot.value))[-1]
    return next((at for at in range(len(text.words) - 1, -1, -1) if text.words[at].text in known), -1)


def _mixed_up(text: str, draft: str, slots: Sequence[Slot]) -> list[str]:
    """Facts of the same kind that have changed places between two items: "2 of A and 3 of B" for 3 and 2."""
    owned = [slot for slot in slots if slot.item is not None and slot.item_name and slot.kind != "item"]
    found = []
    for one, other in combinations(owned, 2):
        alike = (one.kind, one.attribute) == (other.kind, other.attribute)
        if not alike or one.item == other.item or one.value == other.value:
            continue
        if _apart(draft, one, other) and not _apart(text, one, other):
            found.append(f"It mixes up what belongs to which: {fact(one)}; {fact(other)}.")
    return found


def _apart(text: str, one: Slot, other: Slot) -> bool:
    """Whether the text can be cut in two so that each part names one item with what is said of it."""

    def told(part: str, slot: Slot) -> bool:
        return names_item(part, slot) and mentions(part, slot)

    cuts = [match.start() for match in re.finditer(r"\s", text)]
    for first, second in ((one, other), (other, one)):
        cut = next((at for at in cuts if told(text[:at], first)), None)
        if cut is not None and told(text[cut:], second):
            return True
    return False


# --- what nobody told the model to say


def _invented(
    said: Text, given: Text, known: Sequence[Slot], slots: Sequence[Slot], vocabulary: frozenset[str]
) -> list[str]:
    found = []
    allowed = given.numbers | {_NUMBER_WORDS[word] for word in given.bag & _NUMBER_WORDS.keys()}
    # The grammar may have said "two weeks" for 14 days, and the model may turn it back.
    own = [number(slot.value) for slot in slots if is_number(slot.value) and slot.attribute == "ship_days"]
    allowed |= set(own) | ({"2"} if "14" in own else set())
    for word in sorted(said.numbers - allowed):
        found.append(f"The number {word} is not in the example.")
    for word in sorted((said.bag - given.bag) & _NUMBER_WORDS.keys()):
        if _NUMBER_WORDS[word] not in allowed:
            found.append(f'The number "{word}" is not in the example.')
    found += [f"The amount ${amount} is not in the example." for amount in sorted(said.money - given.money)]
    found += [f"The date {day} is not in the example." for day in sorted(said.days - given.days)]
    if any(match.group().lower() not in given.raw.lower() for match in _ID.finditer(said.raw)):
        found.append("It holds an id that is not in the example.")
    found += [f'The name "{name}" is not in the example.' for name in _capitals(said, given)]
    choices = _normal(tuple(str(choice) for slot in known for choice in slot.choices))
    values = (choices | _VALUES | _normal_set(vocabulary)) - _EVERYDAY
    for phrase in sorted(said.phrases & values - given.phrases):
        if len(phrase) > 1 or any(word.raw == phrase.upper() != "I" for word in said.words if word.text == phrase):
            found.append(f'It speaks of "{phrase}", which the example does not.')
    labels = {word.text for slot in slots for word in words_of(label_of(slot))} | {slot.attribute for slot in slots}
    labels |= {"price"} if "$" in given.raw else set()
    for subject, words in _SUBJECTS.items():
        if said.bag & words and not given.bag & words and subject not in labels and not labels & words:
            found.append(f'It speaks of "{min(said.bag & words)}", which the example does not.')
    return found


def _capitals(said: Text, given: Text) -> Iterable[str]:
    """Words with a capital inside a sentence: names, which nobody may make up."""
    sentence = -1
    for word in said.words:
        inside, sentence = word.sentence == sentence, word.sentence
        if inside and word.raw[0].isupper() and word.text not in given.bag and word.text not in _HARMLESS_CAPITALS:
            yield word.raw


@lru_cache(maxsize=512)
def _normal(values: tuple[str, ...]) -> frozenset[str]:
    """Values as runs of words, as `Text.phrases` has them; what is only a number is seen to elsewhere."""
    runs = (" ".join(word.text for word in words_of(value)) for value in values)
    return frozenset(run for run in runs if run not in ("", "a", "i") and not run.replace(" ", "").isdigit())


@lru_cache(maxsize=8)
def _normal_set(vocabulary: frozenset[str]) -> frozenset[str]:
    return _normal(tuple(vocabulary))
