"""How the facts of a substitution, a return, an order, a question about the rules and a project are said.

Every kind of slot has sentences of its own (`tell`) and, where the customer is short of words, notes (`note`). Each
holds the value verbatim, so that `mentions` finds it, and says nothing else about the goal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ecomrlve.customer import errand_forms, errand_wording
from ecomrlve.customer.dates import say_date
from ecomrlve.customer.items import agreement
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.mentions import yes_or_no
from ecomrlve.customer.phrases import IT, THEY, Pronoun, is_adjective, label_of, mod, need, short
from ecomrlve.customer.values import say_count, say_money
from ecomrlve.customer.words import (
    a,
    article,
    bare,
    common_noun,
    is_plural,
    listed,
    money,
    pick,
    squeeze,
    statements,
    the,
)
from ecomrlve.shop.questions import REASON_WORDS, fact_clause
from ecomrlve.streams import Stream

HEAD_KINDS = ("original", "sendback", "order", "question", "project", "part")
TOLD_KINDS = ("reference", "fact", "reason", "wish", "refund")
KINDS = (*HEAD_KINDS, *TOLD_KINDS, "eta", "budget", "tie")

# What a replacement is called, so that nothing said of it is taken for a fact about what goes back.
NEW_ONE = Pronoun("the new one", "the new one", "a new one")
NEW_ONES = Pronoun("the new ones", "the new ones", "new ones")


def subject(noun: str, env: str) -> Pronoun:
    """What the facts are about: "it" for an order, "they" for headphones."""
    return THEY if env != "E_STATUS" and noun and is_plural(noun) else IT


def _words_of(pronoun: Pronoun) -> dict[str, str]:
    many = pronoun.subject == "they"
    return {
        "it": pronoun.subject,
        "obj": pronoun.object,
        "one": pronoun.one,
        "was": "were" if many else "was",
        "be": "are" if many else "is",
        "it_was": "they were" if many else "it was",
        "its": "they're" if many else "it's",
    }


def tell(slot: Slot, stream: Stream, pronoun: Pronoun, env: str = "") -> str:
    """One fact as a clause of its own."""
    words = _words_of(pronoun)
    if slot.kind in HEAD_KINDS:
        return head([slot], [], stream, opening=False, embed=False)[0]
    if slot.kind == "fact":
        return fact_clause(slot.attribute, slot.value, stream)
    if slot.kind == "reference":
        attribute = slot.attribute if slot.attribute in errand_forms.REFERENCE else ""
        own = {"E_STATUS": errand_forms.OF_AN_ORDER, "E_RETURN": errand_forms.OF_A_LINE}.get(env, {})
        forms = own.get(attribute) or errand_forms.REFERENCE[attribute]
        return pick(forms, stream).format(v=_reference_value(slot, stream, words["be"]), **words)
    if slot.kind == "reason":
        return pick(errand_forms.REASON, stream).format(reason=reason_words(str(slot.value), stream), **words)
    if slot.kind == "refund":
        return pick(errand_forms.REFUND[slot.value], stream)
    if slot.kind == "wish":
        return pick(errand_forms.WISH[slot.value], stream).format(**words)
    if slot.kind == "eta":
        return pick(errand_forms.ETA, stream)
    if slot.kind == "budget":
        return pick(errand_forms.BUDGET, stream).format(v=say_money(slot.value, stream))
    one, two = (the(common_noun(str(part))) for part in slot.value)
    return pick(errand_forms.TIE, stream).format(one=one, two=two, label=label_of(slot))


def note(slot: Slot, stream: Stream, pronoun: Pronoun, env: str = "") -> str:
    """One fact as a note, where there is one; else as a clause."""
    if slot.kind == "budget":
        return pick(errand_forms.BUDGET_NOTES, stream).format(v=say_money(slot.value, stream))
    if slot.kind != "reference" or (env == "E_STATUS" and slot.attribute not in errand_forms.ORDER_TAILS):
        return tell(slot, stream, pronoun, env)
    forms = errand_forms.REFERENCE_NOTES.get(slot.attribute, errand_forms.REFERENCE_NOTES[""])
    if env == "E_RETURN" and slot.attribute == "bought":
        forms = errand_forms.LINE_NOTES
    return pick(forms, stream).format(v=_reference_value(slot, stream, _words_of(pronoun)["be"]), one=pronoun.one)


def _reference_value(slot: Slot, stream: Stream, be: str = "is") -> str:
    if slot.attribute in ("ordered_on", "delivered_on"):
        return say_date(str(slot.value), stream)
    if slot.attribute in ("paid", "order_total"):
        return say_money(slot.value, stream)
    if slot.attribute == "bought":
        return the(squeeze(str(slot.value)))
    if slot.attribute == "quantity":
        return say_count(slot.value, stream)
    if slot.attribute == "order_id":
        return str(slot.value)
    answer, label = yes_or_no(slot.value), label_of(slot)
    if answer is None:
        return mod(slot, stream)
    if is_adjective(label):
        return f"that {be}{'' if answer else ' not'} {label}"
    return f"{'with' if answer else 'without'} {label}"


def reason_words(code: str, stream: Stream) -> str:
    """A reason for sending something back, as the customer puts it: "it arrived damaged"."""
    return stream.choice(REASON_WORDS[code])


# --- what is wanted at all


def head(slots: Sequence[Slot], told: list[Slot], stream: Stream, *, opening: bool, embed: bool) -> list[str]:
    """The clauses that say what it is about. A reference that fits behind the noun is taken out of `told`.

    Args:
        slots: Head slots.
        told: The other slots of the message.
        stream: For the wording.
        opening: Whether questions may be asked; said again, they would sound as if nobody had answered.
        embed: Whether a reference may be put behind the noun.
    """
    clauses: list[str] = []
    project = next((slot for slot in slots if slot.kind == "project"), None)
    parts = [slot for slot in slots if slot.kind == "part"]
    for slot in slots:
        if slot.kind == "original":
            title = the(squeeze(str(slot.value)))
            words = agreement(title)
            again = "They're" if words["is"] == "are" else "It's"
            form = pick(_asked(errand_forms.ORIGINAL, opening), stream)
            clauses.append(form.format(title=title, Is=again, **words))
        elif slot.kind == "sendback":
            noun = common_noun(str(slot.value))
            tail = _tail(told, errand_forms.SENDBACK_TAILS, stream) if embed else ""
            forms = errand_forms.SENDBACK_TAILED if tail else _asked(errand_forms.SENDBACK, opening)
            clauses.append(pick(forms, stream).format(np=a(noun), tail=tail, **agreement(noun)))
        elif slot.kind == "order":
            tail = _tail(told, errand_forms.ORDER_TAILS, stream) if embed else ""
            clauses.append(
                pick(_asked(errand_forms.ORDER_TAILED if tail else errand_forms.ORDER, opening), stream).format(
                    tail=tail
                )
            )
        elif slot.kind == "question":
            clauses.append(
                pick(_asked(errand_forms.QUESTION, opening), stream).format(q=squeeze(str(slot.value)).rstrip("?."))
            )
            if slot.choices:
                clauses.append(
                    pick(_asked(errand_forms.CHOICES, opening), stream).format(choices=listed(slot.choices, "or"))
                )
    if project is not None and not parts:
        clauses.append(pick(errand_forms.PROJECT, stream).format(project=owned(str(project.value))))
    elif parts:
        nouns = listed([a(common_noun(str(slot.value))) for slot in parts])
        forms = errand_forms.PARTS if project is None else _asked(errand_forms.PROJECT_PARTS, opening)
        name = owned(str(project.value)) if project is not None else ""
        clauses.append(pick(forms, stream).format(project=name, list=nouns))
    return clauses


def _asked(forms: tuple[str, ...], opening: bool) -> tuple[str, ...]:
    return forms if opening else statements(forms)


def _tail(told: list[Slot], tails: Mapping[str, tuple[str, ...]], stream: Stream) -> str:
    for slot in told:
        if slot.kind == "reference" and slot.attribute in tails:
            told.remove(slot)
            return pick(tails[slot.attribute], stream).format(v=_reference_value(slot, stream))
    return ""


def owned(project: str) -> str:
    """A project with its article: "a home office", "my first camping trip"."""
    project = bare(project)
    if project.split(" ", 1)[0].lower() in ("a", "an", "my", "our", "some"):
        return project
    if project.lower().startswith("first "):
        return f"my {project}"
    return project if is_plural(project) else f"{article(project)} {project}"


# --- what belongs to a part of a project, or to a replacement


def about_part(slots: Sequence[Slot], stream: Stream) -> list[str]:
    """Clauses that say the constraints of one part and name it."""
    name = common_noun(bare(slots[0].item_name)) or "part"
    mode = stream.weighted(("clauses", "one", "notes"), (0.45, 0.3, 0.25))
    if mode == "one" and len(slots) <= 3:
        mods = [mod(slot, stream) for slot in slots]
        form = pick(("I need the {name} {mods}", "I'd like the {name} {mods}", "I want the {name} {mods}"), stream)
        return [form.format(name=name, mods=listed(mods))]
    if mode == "notes":
        notes = listed([short(slot, stream) for slot in slots])
        form = pick(("for the {name}: {notes}", "the {name}: {notes}", "as for the {name}: {notes}"), stream)
        return [form.format(name=name, notes=notes)]
    pronoun = Pronoun(f"the {name}", f"the {name}", a(name))
    return [aimed(need(slot, stream, pronoun), f"the {name}", stream) for slot in slots]


def about_original(slots: Sequence[Slot], stream: Stream) -> list[str]:
    """Which of several lookalikes the product that is sold out was, as a clause that names it."""
    what = listed([mod(slot, stream) for slot in slots])
    return [pick(errand_forms.WHICH_ORIGINAL, stream).format(name=the(squeeze(slots[0].item_name)), what=what)]


# After these, another lead would be one too many: "for the belt, as to the buckle".
_NO_SECOND_LEAD = (
    "for",
    "as",
    "regarding",
    "concerning",
    "speaking",
    "with",
    "in",
    "within",
    "please",
    "when",
    "above",
)


def aimed(clause: str, name: str, stream: Stream) -> str:
    """The clause with what it is about in front, unless it says so itself."""
    if name in clause:
        return clause
    if clause.split(" ", 1)[0].strip(",:") in _NO_SECOND_LEAD:
        return f"{name}: {clause}"
    return f"{stream.choice(('for', 'as for'))} {name}, {clause}"


def differing(slot: Slot, old: float, stream: Stream) -> str:
    """A new budget against the old one, as a clause."""
    link = stream.choice(("instead of", "rather than", "and no longer"))
    return f"{tell(slot, stream, IT)}, {link} {money(old)}"


def earlier(what: str, env: str) -> str:
    """What the customer calls a matter that it comes back to: "the air fryer", "my question about how long ..."."""
    what = squeeze(what).rstrip("?.")
    if not what:
        return errand_wording.SUBJECT_NAMES.get(env, "what we had before")
    if what.split(" ", 1)[0].lower() in ("my", "our", "the", "a", "an", "that", "this"):
        return what
    if env == "E_POLICY":
        return f"my question about {what}"
    if env == "E_BUNDLE" and what.startswith("first "):
        return owned(what)
    # A title keeps its capitals, a product type needs none.
    return the(what if env in ("E_CART", "E_SUB") else common_noun(what))


# --- a whole message


def clauses(
    slots: Sequence[Slot],
    stream: Stream,
    pronoun: Pronoun,
    env: str,
    *,
    style: str,
    opening: bool,
    pairs: Callable[[list[str]], list[str]],
) -> tuple[list[str], list[str]]:
    """Clauses for all slots of `KINDS`: those that come first in a message, and those that end it.

    Args:
        slots: The slots.
        stream: For the wording.
        pronoun: See `subject`.
        env: The environment.
        style: One of `wording.STYLES`, or empty.
        opening: Whether it is the opening.
        pairs: Puts some of the clauses two to a sentence.
    """
    heads = [slot for slot in slots if slot.kind in HEAD_KINDS]
    told = [slot for slot in slots if slot.kind in TOLD_KINDS]
    embed = bool(heads) and stream.chance({"terse": 0.8, "hurried": 0.7}.get(style, 0.45))
    first = head(heads, told, stream, opening=opening, embed=embed)
    facts = [slot for slot in told if slot.kind in ("reference", "fact")]
    if facts and stream.chance({"terse": 0.75, "hurried": 0.5, "polite": 0.0}.get(style, 0.15)):
        first.append("; ".join(note(slot, stream, pronoun, env) for slot in facts))
    else:
        first += pairs([tell(slot, stream, pronoun, env) for slot in facts])
    first += [tell(slot, stream, pronoun, env) for slot in told if slot not in facts]
    first += [tell(slot, stream, pronoun, env) for slot in slots if slot.kind == "eta"]
    say = note if style in ("terse", "hurried") else tell
    return first, [say(slot, stream, pronoun, env) for slot in slots if slot.kind in ("tie", "budget")]
