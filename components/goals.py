"""Pure functions: the hidden goal of each environment against what was done, as tables for people.

The records may come from uploaded files, so what is missing or odd is shown as text, as in `components.records`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from components.session import ENVIRONMENTS, JOURNEY
from components.tables import Cell, block, cell, mapping, number, rows, words
from components.views import variant_label
from components.voice import READER, Voice, capital, voice_of

Record = dict[str, Any]


def goal_blocks(trajectory: Mapping[str, Any], voice: Voice | None = None) -> list[Record]:
    """The hidden goal against what was done; in a journey, one after the other for each of the wishes.

    Args:
        trajectory: The record of an episode.
        voice: How to speak of the player; by default as the record says.
    """
    goal, voice = mapping(trajectory.get("goal")), voice or voice_of(trajectory)
    done = rows(trajectory.get("done"))
    if goal.get("env_id") == JOURNEY and isinstance(goal.get("intents"), list):
        return _journey_blocks(trajectory, rows(goal["intents"]), done, voice)
    return _blocks(goal, done, _last_answer(trajectory), voice)


def _blocks(goal: Record, done: list[Record], answer: Record | None, voice: Voice) -> list[Record]:
    """The tables of one goal.

    Args:
        goal: What the task revealed.
        done: What was done for it.
        answer: The fields of the accepted answer, where they are known.
        voice: How to speak of the player.
    """
    make = _MAKERS.get(words(goal.get("env_id"))) or (
        _cart if "items" in goal else _list if "feasible" in goal else None
    )
    if make is not None:
        return make(goal, done, answer or {}, voice)
    if not goal and not done:
        return []
    pairs: list[list[Cell]] = [[name, words(value)] for name, value in goal.items()]
    did: list[list[Cell]] = [[words(entry)] for entry in done]
    return [block("The hidden goal", ["Field", "Value"], pairs), block("What was done", ["Record"], did)]


def _last_answer(trajectory: Mapping[str, Any]) -> Record | None:
    """The answer that ended the episode, if one did."""
    steps = rows(trajectory.get("steps"))
    answer = mapping(mapping(steps[-1].get("canonical")).get("answer")) if steps else {}
    return answer or None


def _journey_blocks(
    trajectory: Mapping[str, Any], goals: list[Record], done: list[Record], voice: Voice
) -> list[Record]:
    parts = mapping(mapping(trajectory.get("reward")).get("parts"))
    outcomes = rows(parts.get("intents"))
    lines: list[list[Cell]] = []
    for place, goal in enumerate(goals):
        outcome = outcomes[place] if place < len(outcomes) else {}
        verdict = cell("—", "muted")
        if outcome:
            answered = bool(outcome.get("answered", True))
            right = bool(outcome.get("correct"))
            verdict = cell("right" if right else "wrong" if answered else "never answered", "good" if right else "bad")
        lines.append([place + 1, wish_name(goal), words(outcome.get("task")), verdict])
    found = [block("The wishes, in the order in which they were raised", ["#", "Wish", "Worth", ""], lines)]
    for place, goal in enumerate(goals):
        env_id = words(goal.get("env_id"))
        own = [entry for entry in done if words(entry.get("intent")) == env_id]
        for table in _blocks(goal, own, None, voice):
            found.append({**table, "title": f"{place + 1}. {wish_name(goal)}: {table['title']}"})
    kinds = {words(goal.get("env_id")) for goal in goals}
    rest: list[list[Cell]] = [[words(entry)] for entry in done if words(entry.get("intent")) not in kinds]
    return [*found, *([block("What was done besides", ["Record"], rest)] if rest else [])]


def wish_name(goal: Mapping[str, Any]) -> str:
    """What kind of wish it is, for people."""
    env_id = words(goal.get("env_id"))
    return ENVIRONMENTS.get(env_id, env_id).partition(" (")[0]


def _judged(wanted: Any, got: Any) -> dict[str, Any]:
    """Whether two values are the same, however they are written."""
    alike = _plain(wanted) == _plain(got)
    return cell("right", "good") if alike else cell("wrong" if _plain(got) else "missing", "bad")


def _plain(value: Any) -> str:
    return words(value).strip().lower().replace("_", " ").replace("-", " ")


def _spoken(value: Any) -> str:
    return words(value).replace("_", " ")


def item(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A cart line in one cell."""
    variant = variant_label(entry.get("variant"))
    label = f"{words(entry.get('qty', 1))} × {words(entry.get('title'))}" + (f" [{variant}]" if variant else "")
    return cell(label, sub=words(entry.get("note")))


def _cart(goal: Record, done: list[Record], answer: Record, voice: Voice) -> list[Record]:
    return [cart_block(goal, done, voice)]


def cart_block(goal: Record, done: list[Record], voice: Voice = READER) -> Record:
    """Wanted items with the cart lines that serve them, then the lines that serve none.

    Args:
        goal: What was wanted.
        done: The lines of a cart; with the verifier's status, where it has seen them.
        voice: How to speak of whose cart it is.
    """
    tones = {"match": ("good", "right"), "partial": ("warn", "in part"), "extra": ("bad", "not wanted")}
    left = list(done)
    lines: list[list[Cell]] = []
    for wanted in rows(goal.get("items")):
        own = [line for line in left if _serves(line, wanted)]
        left = [line for line in left if line not in own]
        have = sum(number(line.get("qty")) for line in own)
        quantity = number(wanted.get("qty", 1))
        if not own:
            verdict = cell("missing", "bad")
        elif have == quantity:
            verdict = cell("right", "good")
        else:
            verdict = cell("too few" if have < quantity else "too many", "warn")
        lines.append([item(wanted), cell("; ".join(item(line)["text"] for line in own) or "—"), verdict])
    for line in left:
        tone, text = tones.get(words(line.get("status")), ("bad", "not wanted"))
        lines.append(["—", item(line), cell(text, tone)])
    return block(f"Hidden goal and {voice.possessive} cart", ["Wanted", "In the cart", ""], lines)


def _serves(line: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    same = line.get("product_id") == wanted.get("product_id")
    return same and wanted.get("variant_id") in (None, line.get("variant_id"))


def _product(entry: Mapping[str, Any]) -> dict[str, Any]:
    product = words(entry.get("product_id"))
    title = words(entry.get("title"))
    return cell(title or product, sub=product if title else "")


def _list(goal: Record, done: list[Record], answer: Record, voice: Voice) -> list[Record]:
    """E_PD and E_SUB: the list that was given, and all products that would have fitted."""
    feasible = {words(entry.get("product_id")): entry for entry in rows(goal.get("feasible"))}
    lines: list[list[Cell]] = []
    for rank, entry in enumerate(done, 1):
        known = {**feasible.get(words(entry.get("product_id")), {}), **entry}
        fits = bool(entry.get("feasible"))
        verdict = cell("fits", "good") if fits else cell("does not fit", "bad", words(entry.get("violates")))
        lines.append([rank, _product(known), verdict])
    wanted = words(goal.get("constraints")) or "nothing in particular"
    order = " before ".join(map(words, goal["priorities"])) if isinstance(goal.get("priorities"), list) else ""
    note = f"Wanted: {words(goal.get('type'))}; {wanted}." + (f" Best means {order}." if order else "")
    original = mapping(goal.get("original"))
    if original:
        same = words(goal.get("compatible_by"))
        note += f" In place of {words(original.get('title'))}, most similar first"
        note += f", with the same {same.replace('_', ' ')}." if same else "."
    return [
        block(f"{capital(voice.possessive)} list against the hidden goal", ["#", "Recommended", ""], lines, note),
        _feasible(goal),
    ]


def _feasible(goal: Record) -> Record:
    best = goal.get("best") if isinstance(goal.get("best"), list) else []
    places = {words(product): place for place, product in enumerate(best or [], 1)}
    entries = rows(goal.get("feasible"))
    entries.sort(key=lambda entry: (places.get(words(entry.get("product_id")), 10**6), -number(entry.get("utility"))))
    similar = any("similarity" in entry for entry in entries)
    lines: list[list[Cell]] = []
    for entry in entries:
        place: list[Cell] = [places.get(words(entry.get("product_id")), "")]
        lines.append(place + _offer(entry) + ([f"{number(entry.get('similarity')):.3f}"] if similar else []))
    columns = ["Best", *_OFFER, *(["Similarity"] if similar else [])]
    return block("All products that would have fitted", columns, lines)


_OFFER = ["Product", "Price", "Rating", "Ship days", "Brand", "Utility"]


def _offer(entry: Mapping[str, Any]) -> list[Cell]:
    return [
        _product(entry),
        _money(entry.get("price")),
        words(entry.get("rating")),
        words(entry.get("ship_days")),
        words(entry.get("brand")),
        f"{number(entry.get('utility')):.2f}",
    ]


def _money(value: Any) -> str:
    return f"${number(value):.2f}"


def _status(goal: Record, done: list[Record], answer: Record, voice: Voice) -> list[Record]:
    did = done[0] if done else {}
    lines: list[list[Cell]] = [
        ["Order", words(goal.get("order_id")), words(did.get("order_id")) or "—",
         _judged(goal.get("order_id"), did.get("order_id"))],
        ["Status", _spoken(goal.get("status")), _spoken(did.get("status")) or "—",
         _judged(goal.get("status"), did.get("status"))],
    ]  # fmt: skip
    if goal.get("eta") is not None:
        arrival = _judged(goal["eta"], did.get("eta"))
        lines.append(["Arrival", words(goal["eta"]), words(did.get("eta")) or "—", arrival])
    products = goal.get("products")
    bought = "; ".join(map(words, products)) if isinstance(products, list) else words(products)
    note = f"Placed on {words(goal.get('placed'))}. In it: {bought}."
    return [block("The order that was meant", ["", "Right", f"{voice.title} said", ""], lines, note)]


def _return(goal: Record, done: list[Record], answer: Record, voice: Voice) -> list[Record]:
    order, line = words(goal.get("order_id")), words(goal.get("line_id"))
    lines: list[list[Cell]] = []
    if answer:
        lines.append(["Order", order, words(answer.get("selected_order_id")) or "—",
                      _judged(order, answer.get("selected_order_id"))])  # fmt: skip
        lines.append(["Line", line, words(answer.get("selected_line_id")) or "—",
                      _judged(line, answer.get("selected_line_id"))])  # fmt: skip
        lines.append(["Decision", _spoken(goal.get("decision")), _spoken(answer.get("return_decision")) or "—",
                      _judged(goal.get("decision"), answer.get("return_decision"))])  # fmt: skip
        if goal.get("decision") == "not_eligible":
            last = goal.get("last_return_day") or ""
            lines.append(["Could go back until", last or "never", words(answer.get("last_return_day")) or "—",
                          _judged(last, answer.get("last_return_day") or "")])  # fmt: skip
    else:
        lines += [["Order", order, "", ""], ["Line", line, "", ""], ["Decision", _spoken(goal.get("decision")), "", ""]]
    days, window = words(goal.get("days_since_delivery")), words(goal.get("window_days"))
    note = f"{words(goal.get('product'))}, delivered on {words(goal.get('delivered'))}: {days} days ago"
    note += f", where {window} are allowed for the reason “{_spoken(goal.get('reason'))}”."
    if goal.get("method"):
        note += f" Money back by {_spoken(goal['method'])}."
    found = [block("The line that was meant", ["", "Right", f"{voice.title} said", ""], lines, note)]
    none_due = goal.get("decision") == "not_eligible"
    made: list[list[Cell]] = [[_transaction(entry), _fitting(goal, entry)] for entry in done]
    hint = "Nothing was to be sent back." if none_due else ""
    found.append(block(f"Returns and exchanges {voice.subject} made", ["Made", ""], made, hint))
    best = rows(goal.get("best"))
    if best:
        given = {words(answer.get("recommended_product_ids"))} | {words(entry.get("new_product_id")) for entry in done}
        table: list[list[Cell]] = [
            [place, *_offer(entry), cell("chosen", "good") if words(entry.get("product_id")) in given else ""]
            for place, entry in enumerate(best, 1)
        ]
        wanted = words(goal.get("constraints")) or "nothing in particular"
        found.append(block("The best replacements", ["Best", *_OFFER, ""], table, f"Wanted: {wanted}."))
    return found


def _transaction(entry: Mapping[str, Any]) -> dict[str, Any]:
    how = [f"reason: {_spoken(entry.get('reason'))}"]
    if entry.get("method"):
        how.append(f"money back by {_spoken(entry['method'])}")
    if entry.get("new_product_id"):
        how.append(f"for {words(entry['new_product_id'])}")
    return cell(f"{_spoken(entry.get('kind'))} of {words(entry.get('line_id'))}", sub=", ".join(how))


def _fitting(goal: Record, entry: Record) -> dict[str, Any]:
    """Whether a transaction is the one that was wanted, and where it is not, in what it differs."""
    named = {"kind": goal.get("decision"), "line_id": goal.get("line_id"), "reason": goal.get("reason")}
    if goal.get("decision") == "return":
        named["method"] = goal.get("method")
    if goal.get("decision") == "not_eligible":
        return cell("not wanted", "bad")
    off = [name for name, value in named.items() if value != entry.get(name)]
    return (
        cell("not as wanted", "bad", ", ".join(name.replace("_id", "") for name in off))
        if off
        else cell("right", "good")
    )


def _policy(goal: Record, done: list[Record], answer: Record, voice: Voice) -> list[Record]:
    did = done[0] if done else {}
    right = bool(did.get("right"))
    verdict = cell("right", "good") if right else cell("wrong" if did else "missing", "bad")
    told: list[list[Cell]] = [["Answer", words(goal.get("answer")), words(did.get("answer")) or "—", verdict]]
    note = f"Asked: {words(goal.get('question'))}. The page that decides: {words(goal.get('page'))}"
    note += f" ({words(goal.get('policy_id'))})."
    if goal.get("amount") is not None:
        note += f" Paid: {_money(goal['amount'])}."
    if goal.get("order_id"):
        note += f" The order: {words(goal['order_id'])}."
    where = {"said": "said by the customer", "profile": "in the profile", "order": "in the order"}
    facts: list[list[Cell]] = [
        [_spoken(fact.get("attribute")), _spoken(fact.get("value")),
         where.get(words(fact.get("source")), words(fact.get("source")))]
        for fact in rows(goal.get("facts"))
    ]  # fmt: skip
    return [
        block("The question", ["", "Right", f"{voice.title} said", ""], told, note),
        block("What the answer depends on", ["Fact", "Value", "Where it stands"], facts),
    ]


def _bundle(goal: Record, done: list[Record], answer: Record, voice: Voice) -> list[Record]:
    cheapest = {words(entry.get("part")): entry for entry in rows(goal.get("cheapest"))}
    filled: dict[str, Record] = {}
    for entry in done:
        if entry.get("fills") is not None:
            filled.setdefault(words(entry.get("fills")), entry)
    lines: list[list[Cell]] = []
    for part in rows(goal.get("parts")):
        name = words(part.get("type"))
        yours, one = filled.get(name), cheapest.get(name, {})
        verdict = cell("filled", "good") if yours else cell("not filled", "bad")
        mine: Cell = _priced(yours) if yours else "—"
        wanted = cell(name, sub=words(part.get("constraints")) or "any")
        lines.append([wanted, words(part.get("fitting")), mine, verdict, _priced(one) if one else "—"])
    spent = sum(number(entry.get("price")) for entry in done)
    note = f"For {words(goal.get('project'))}. Budget {_money(goal.get('budget'))}, "
    note += f"{voice.subject} spent {_money(spent)}, the cheapest fitting bundle costs {_money(goal.get('cost'))}."
    tie = mapping(goal.get("tie"))
    if tie:
        types = tie.get("types") if isinstance(tie.get("types"), list) else []
        note += f" The same {_spoken(tie.get('attribute'))} for {' and '.join(map(words, types or []))}."
    columns = ["Part", "Fitting", "Chosen", "", "A cheapest bundle"]
    wrong: list[list[Cell]] = [
        [_priced(entry), cell(words(entry.get("wrong")), "bad")] for entry in done if entry.get("fills") is None
    ]
    extra = [block("Recommended, but filling no part", ["Product", "Why"], wrong)] if wrong else []
    return [block("The project's parts", columns, lines, note), *extra]


def _priced(entry: Mapping[str, Any]) -> dict[str, Any]:
    price = "" if entry.get("price") is None else f"{_money(entry['price'])} · "
    return cell(words(entry.get("title")), sub=price + words(entry.get("product_id")))


_MAKERS: dict[str, Callable[[Record, list[Record], Record, Voice], list[Record]]] = {
    "E_CART": _cart,
    "E_PD": _list,
    "E_SUB": _list,
    "E_STATUS": _status,
    "E_RETURN": _return,
    "E_POLICY": _policy,
    "E_BUNDLE": _bundle,
}
