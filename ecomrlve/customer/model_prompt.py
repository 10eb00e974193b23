"""What a language model is told before it puts a message of the customer's in other words.

The prompt holds only what the message says anyway: never a slot that is still to be found out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ecomrlve.customer.items import named
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.mentions import yes_or_no
from ecomrlve.customer.phrases import label_of, value_words
from ecomrlve.customer.words import listed, money, squeeze, the
from ecomrlve.shop.questions import FACT_LABELS, REASON_WORDS, fact_value

STYLES = {
    "terse": "says as little as possible: notes and fragments, no greeting, no small talk",
    "chatty": "is friendly and talkative: whole sentences, a warm and informal tone, but no stories",
    "hurried": "has little time: short, direct sentences that come to the point at once",
    "polite": "is courteous: whole sentences with please and thank you, never an order",
    "unsure": "sounds hesitant (hmm, well, I think), yet is definite about every fact",
    "": "is an ordinary person who writes plainly",
}
_ACTS = {
    "open": "It opens the matter: the customer says what it wants.",
    "clarify": "It answers a question that the assistant has asked.",
    "confirm": "It confirms that what the assistant has done or shown is right.",
    "elaborate": "It adds something that the assistant has not asked about.",
    "switch": "The customer has changed its mind: what it says now replaces what it said before.",
    "correct": "It tells the assistant what is wrong with what it has done or shown.",
    "unsure": "It answers a question to which the customer has no answer or no preference.",
    "repeat": "It says once more what the customer has said before.",
    "chat": "It only keeps the conversation going.",
    "give_up": "The customer no longer wants one of the things: the assistant shall leave it out.",
    "quit": "The customer has lost patience and leaves.",
    "thanks": "It thanks the assistant; the matter is done.",
    "nothing_else": "It says that the customer has nothing to add.",
    "next": "It thanks for the answer and says that there is another matter.",
}
_MORE = {
    "hasty": "The assistant was too quick: the customer stops it first.",
    "late": "Time is running out, so the customer says all that is still unsaid.",
    "sold_out": "The customer has just seen that something is sold out.",
    "subject": "It only says that another matter comes first; which one, it says later.",
    "back": "It goes back to an earlier matter.",
    "follow": "The customer has just announced this matter, so it does not greet.",
}
_CHATS = {
    "shown_fine": "It says that what it has seen so far is fine.",
    "working": "It tells the assistant to go on or to take its time.",
    "greeting": "It returns a greeting.",
}
_MOST_QUOTED = 1000
_PRIORITIES = {"price": "a low price", "rating": "a good rating", "ship_days": "quick delivery"}
_OPERATORS = {"le": "at most ", "ge": "at least "}
_HEADS = {
    "type": "product wanted",
    "item": "wanted, by its name",
    "original": "the product that is sold out",
    "sendback": "what goes back to the shop",
    "project": "the project",
    "part": "needed for the project",
    "question": "what the customer wants to know",
}
_REFERENCES = {
    "order_id": "order number",
    "ordered_on": "day of the order",
    "delivered_on": "day of the delivery",
    "paid": "price paid for one",
    "order_total": "total of the order",
    "bought": "bought, by its name",
    "quantity": "how many were bought",
}
_REFUNDS = {
    "original_payment": "the money goes back the way I paid (original payment method)",
    "store_credit": "the money comes as store credit",
}
_WISHES = {
    "refund": "the customer just wants a refund, nothing else",
    "refund_and_suggestion": "the customer wants a refund, and the assistant shall suggest something to buy instead",
    "exchange": "the customer wants to exchange it for another one",
}


def fact(slot: Slot) -> str:
    """A slot as one plain line: "price: at most $25", "battery life of the GreenLeaf charger: 10 hours"."""
    line = _fact(slot)
    if slot.item is not None and slot.item_name and slot.kind not in _HEADS:
        return f"for {the(slot.item_name)}: {line}"
    return line


def _fact(slot: Slot) -> str:
    value = slot.value
    if slot.kind in _HEADS:
        choices = f" (the possible answers: {listed(slot.choices, 'or')})" if slot.kind == "question" else ""
        return f"{_HEADS[slot.kind]}: {squeeze(str(value))}" + (choices if slot.choices else "")
    if slot.kind == "order":
        return "it is about an order"
    if slot.kind == "priority":
        return f"what matters {'second' if slot.rank == 2 else 'most'}: {_priority(slot)}"
    if slot.kind == "quantity":
        return f"quantity: {value_words(slot, value)}"
    if slot.kind == "fallback":
        return f"if {the(named(slot))} is sold out: {_fallback(slot)}"
    if slot.kind == "reason" or (slot.kind == "fact" and slot.attribute == "reason"):
        return f'the reason, in one of these wordings: "{listed(REASON_WORDS[str(value)], "or")}"'
    if slot.kind == "refund":
        return _REFUNDS[str(value)]
    if slot.kind == "wish":
        return _WISHES[str(value)]
    if slot.kind == "eta":
        return "the customer also asks when it will arrive"
    if slot.kind == "fact":
        return f"{FACT_LABELS[slot.attribute][0]}: {fact_value(slot.attribute, value)}"
    if slot.kind == "budget":
        return f"what everything together may cost: at most {money(value)}"
    if slot.kind == "tie":
        one, two = (the(str(part)) for part in value)
        return f"{one} and {two} must have the same {label_of(slot)}"
    return _attribute(slot)


def _attribute(slot: Slot) -> str:
    """A constraint, an attribute that tells things apart, a variant, or a fact about an order."""
    label = label_of(slot)
    if slot.kind == "reference" and slot.attribute in _REFERENCES:
        label = _REFERENCES[slot.attribute]
        if slot.attribute in ("paid", "order_total"):
            return f"{label}: {money(slot.value)}"
    answer = yes_or_no(slot.value)
    if answer is not None:
        return f"{label}: yes, it must be so" if answer else f"{label}: no, it must not be so"
    return f"{label}: {_OPERATORS.get(slot.operator, '')}{value_words(slot, slot.value)}"


def _priority(slot: Slot) -> str:
    if slot.attribute == "brand":
        return f"the brand {squeeze(str(slot.value))}".strip()
    return _PRIORITIES.get(slot.attribute, label_of(slot))


def _fallback(slot: Slot) -> str:
    value = slot.value
    if value["do"] == "drop":
        return "leave it out"
    facts = dict(value.get("identify") or {})
    if value.get("attribute") and value.get("value") is not None:
        facts[value["attribute"]] = value["value"]
    details = [f"{name.replace('_', ' ')} {squeeze(str(one))}" for name, one in facts.items()]
    if value["do"] == "product":
        details.insert(0, the(squeeze(str(value["title"]))))
    return f"take {', '.join(details)} instead"


def names_in(context: Mapping[str, Any]) -> list[str]:
    """What a message is about besides its slots, in the words that it must keep: the titles of products, above all."""
    holders: list[Mapping[str, Any]] = [context, *(context.get("complaints") or ())]
    found = [holder.get(field) for holder in holders for field in ("title", "item_name", "wanted", "label", "want")]
    found += [context.get("about"), context.get("what") if context.get("back") else None]
    return list(dict.fromkeys(squeeze(name) for name in found if isinstance(name, str) and name.strip()))


def messages(
    act: str, slots: Sequence[Slot], context: Mapping[str, Any], names: Sequence[str], draft: str
) -> list[dict[str, str]]:
    """The request for other words: one message, as some chat templates know no system role.

    Args:
        act: What the message does, one of `grammar.ACTS`.
        slots: The facts that it must carry.
        context: See `Grammar.say`.
        names: See `names_in`; those that stand in the draft.
        draft: The grammar's own words, as an example of a correct message.
    """
    purpose = [_ACTS[act], *(line for word, line in _MORE.items() if context.get(word))]
    if act == "chat":
        purpose.append(_CHATS.get(str(context.get("why") or ""), ""))
    facts = [f"- {fact(slot)}" for slot in slots] + [f'- it speaks of "{name}", in just these words' for name in names]
    style = STYLES.get(str(context.get("style") or ""), STYLES[""])
    asks = "No question mark." if "?" not in draft else "It may ask what the example asks, and nothing more."
    lines = [
        "You write one message of a customer to the shopping assistant of an online shop. The customer speaks of "
        f"itself as I. This customer {style}.",
        f"What the message does: {' '.join(filter(None, purpose))}",
        "Facts that the message must state, all of them and each as it is here:",
        *(facts or ["- none besides what the example says"]),
        "Nothing else may be said: no other wish, number, price, product, brand, color, reason or name. "
        "Numbers stay digits with their unit, a limit stays a limit (at most, at least), and names, titles and values "
        f"keep their exact words. {asks}",
        f"A correct message, as an example:\n{draft}",
        "Say the same in other words, the way this customer would. Answer with the message alone: plain English text "
        "on one line, without quotation marks, lists or remarks.",
    ]
    return [{"role": "user", "content": "\n".join(lines)}]


def again(request: Sequence[dict[str, str]], answer: str, objections: Sequence[str]) -> list[dict[str, str]]:
    """The request once more, with an answer that failed and what was wrong with it."""
    wrong = "\n".join(f"- {objection}" for objection in objections)
    complaint = f"That message cannot be used:\n{wrong}\nWrite it anew. Answer with the message alone."
    # Some servers refuse empty messages, and an endless answer would only cost.
    quoted = answer.strip()[:_MOST_QUOTED] or "(nothing)"
    return [*request, {"role": "assistant", "content": quoted}, {"role": "user", "content": complaint}]
