"""Pure functions: episode → what the Play tab shows. Nothing here knows a hidden goal before an episode has ended."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from typing import Any

from components.session import ENVIRONMENTS, JOURNEY, Episode, Turn
from ecomrlve.agents.advice import Past, advice
from ecomrlve.collections import TASKS as ENGINE_TASKS
from ecomrlve.shop.order_history import STATUSES

# A longer tool result is cut in the conversation; the cards and the raw JSON of the trajectory have all of it.
MOST_CHARACTERS = 12_000
# What a newcomer has to know about a task, in one or two sentences each.
TASKS = {
    "E_CART": "Put exactly what the customer wants into the cart (right product, variant and quantity), then submit.",
    "E_PD": "Find products that meet everything the customer asks for, rank them best first, and submit the list.",
    "E_SUB": "What the customer wanted is sold out: find compatible products that meet what it asks for, rank them "
    "most similar first, and submit the list.",
    "E_RETURN": "Find the order line that the customer means, check whether it may go back, make exactly the return or "
    "exchange it wants, and submit what you did; or make none, and submit until which day it could have gone back.",
    "E_STATUS": "Find the order that the customer means, and submit its status and, if asked, when it arrives.",
    "E_POLICY": "Read the help page that decides, look up what it depends on, and submit the one right answer.",
    "E_BUNDLE": "Find one product for each part of the customer's project, all within its budget, and submit them.",
    "E_JOURNEY": "The customer has several wishes, one after the other. Each answer is for the wish raised last that "
    "is still open: choose above the answer what kind of wish that is.",
}
# Fields of an answer whose possible values their description lists: they are offered as a choice.
CHOICES = {"order_status": STATUSES, "return_decision": ("return", "exchange", "not_eligible")}
# Where an answer may hold a list of up to k products, best first.
RANKED = ("E_PD", "E_SUB", JOURNEY)
# With none of these, an environment shows no products.
PRODUCT_TOOLS = ("catalog_", "user_get_visit_history")
# What people call the list of products in an answer.
LISTS = {
    "E_PD": "Your recommendations, best first",
    "E_SUB": "Your substitutes, most similar first",
    "E_RETURN": "The replacement you suggest, if one is wanted",
    "E_BUNDLE": "Your bundle, one product for each part",
}
MOST_RECENT = 4
# `ask_user` and `submit_answer` are the message box and the answer here.
NOT_IN_FORM = frozenset(("ask_user", "submit_answer"))


def controls(env_id: str, difficulty: Any, seed: Any) -> dict[str, Any]:
    """Value of the control bar."""
    environments = [{"id": name, "label": label} for name, label in ENVIRONMENTS.items()]
    return {"environments": environments, "env_id": env_id, "difficulty": difficulty, "seed": seed}


def meters(episode: Episode | None, version: int, *, note: str = "", failed: bool = False) -> dict[str, Any]:
    """Value of the line that says where the episode stands."""
    if episode is None or note:
        status = "failed" if failed else "loading" if note else "empty"
        hint = "Press “Play a random episode” to meet a customer. New here? Take the guided one."
        return {"version": version, "status": status, "note": note or hint}
    seen = episode.observation
    taken = seen.turn
    journey = episode.env_id == JOURNEY
    return {
        "version": version,
        "status": "running" if episode.running else "finished",
        "turn": taken + 1 if episode.running else taken,
        "turn_budget": taken + seen.turns_left,
        # Only where several wishes share the turns do those left for the present one differ from those left in all.
        "wish_turns": seen.intent_turns_left if journey and episode.running else None,
        "tool_budget": seen.tool_budget,
        "list_size": seen.list_size,
        "show_list": episode.env_id in RANKED,
        "search_depth": seen.search_depth if _shows_products(episode) else None,
        "today": seen.today,
        "env_id": episode.env_id,
        "difficulty": episode.difficulty,
        "seed": episode.seed,
    }


def conversation(episode: Episode | None) -> list[dict[str, Any]]:
    """Messages of the chatbot. The player is the agent, on the right; the customer is on the left.

    All text is escaped: even with Markdown switched off, the chatbot takes it for HTML and would load a picture that a
    title names.
    """
    if episode is None:
        return []
    messages: list[dict[str, Any]] = [_said(episode.opening)]
    for turn in episode.turns:
        messages.extend(_thought(call) for call in turn.calls)
        if turn.message:
            messages.append(_did(turn.message))
        if turn.answer is not None:
            messages.append(_did(_answer_text(turn.answer)))
        if turn.customer:
            messages.append(_said(turn.customer))
    if not episode.running:
        messages.append({"role": "assistant", "content": "— End of the conversation —"})
    return messages


def _said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": _escaped(text)}


def _did(text: str) -> dict[str, Any]:
    return {"role": "user", "content": _escaped(text)}


def _escaped(text: str) -> str:
    return html.escape(text, quote=False)


def _answer_text(answer: Mapping[str, Any]) -> str:
    fields = [f"{name}: {_words(value)}" for name, value in answer.items()]
    return "Answer submitted" + (" — " + "; ".join(fields) if fields else "")


def _thought(call: Mapping[str, Any]) -> dict[str, Any]:
    """A tool call, folded: its arguments and its result are the text that an agent gets."""
    refusal = error_of(call["result"])
    summary = ", ".join(f"{name}: {_words(value)}" for name, value in call["args"].items())
    body = f"Arguments\n{_json(call['args'])}\n\nResult\n{_json(call['result'])}"
    title = f"{call['name']} — refused: {refusal}" if refusal else f"{call['name']}({summary[:90]})"
    return {
        "role": "user",
        "content": _escaped(body),
        "metadata": {"title": _escaped(title), "log": f"{call['ms']:.1f} ms", "status": "done"},
    }


def _json(value: Any) -> str:
    text = json.dumps(value, indent=1, ensure_ascii=False)
    if len(text) <= MOST_CHARACTERS:
        return text
    return text[:MOST_CHARACTERS] + f"\n… {len(text) - MOST_CHARACTERS} more characters"


def _words(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_words, value)) or "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def error_of(result: Any) -> str:
    """The message of a refused call, or ""."""
    error = result.get("error") if isinstance(result, Mapping) else None
    return str(error.get("message", "refused")) if isinstance(error, Mapping) else ""


def desk(episode: Episode | None, version: int) -> dict[str, Any]:
    """Value of the desk, where a turn is put together."""
    if episode is None:
        return {"running": False, "version": version, "episode": "", "kinds": [], "log": None}
    seen = episode.observation
    return {
        "running": episode.running,
        "version": version,
        "episode": episode.key,
        "task": TASKS[episode.env_id],
        "tool_budget": seen.tool_budget,
        "turns_left": seen.turns_left,
        # Only a journey has turns that are not for the present wish.
        "wish_turns_left": seen.intent_turns_left if episode.env_id == JOURNEY else None,
        "kinds": _kinds(episode),
        "recent": recent_calls(episode),
        "hints": hints(episode),
        "log": episode.log(),
    }


def recent_calls(episode: Episode) -> list[dict[str, Any]]:
    """The last few different calls, newest first, to be made again."""
    calls = [{"name": call["name"], "args": call["args"]} for turn in episode.turns for call in turn.calls]
    different = {_json(call): call for call in reversed(calls)}
    return list(different.values())[:MOST_RECENT]


def hints(episode: Episode) -> list[str]:
    """Advice that follows from the rules and from what was seen; the page shows it to those who want it."""
    if not episode.running:
        return []
    past = [
        Past(bool(turn.message), tuple(call["result"] for call in turn.calls if isinstance(call["result"], Mapping)))
        for turn in episode.turns
    ]
    return [found.text for found in advice(episode.observation, past)]


def _kinds(episode: Episode) -> list[dict[str, Any]]:
    """What an answer may be about, each with its fields: one kind, or in a journey those of all wishes it may hold."""
    fields, k = _answer_fields(episode.observation.answer_fields), episode.observation.list_size
    if episode.env_id != JOURNEY:
        return [_kind(episode.env_id, fields, k)]
    by_name = {field["name"]: field for field in fields}
    names = set(ENGINE_TASKS[JOURNEY].tools)
    # Nothing here knows which wishes this journey holds: all that the environment has tools for are offered.
    return [
        _kind(env_id, [by_name[name] for name in ENGINE_TASKS[env_id].answer.model_fields if name in by_name], k)
        for env_id in ENVIRONMENTS
        if env_id != JOURNEY and names.issuperset(ENGINE_TASKS[env_id].tools)
    ]


def _kind(env_id: str, fields: list[dict[str, Any]], list_size: int) -> dict[str, Any]:
    most = {"E_PD": list_size, "E_SUB": list_size, "E_RETURN": 1}.get(env_id)
    title = LISTS.get(env_id, "")
    return {"id": env_id, "label": ENVIRONMENTS[env_id], "fields": fields, "list_title": title, "most": most}


def _answer_fields(schemas: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "type": schema.get("type", "string"),
            "choices": _choices(name, schema),
            "description": schema.get("description", ""),
        }
        for name, schema in schemas.items()
        if name != "done"
    ]


def _choices(name: str, schema: Mapping[str, Any]) -> list[str]:
    """The values that a field may have: those of its schema, or those that its description lists."""
    if "enum" in schema:
        return list(schema["enum"])
    listed = CHOICES.get(name, ())
    return list(listed) if all(choice in schema.get("description", "") for choice in listed) else []


def tool_form(episode: Episode | None) -> dict[str, Any]:
    """Value of the tool form: the schemas themselves."""
    if episode is None:
        return {"episode": "", "tools": []}
    tools = [tool for tool in episode.observation.tools if tool["function"]["name"] not in NOT_IN_FORM]
    return {"episode": episode.key, "tools": tools}


def cart(episode: Episode | None) -> dict[str, Any]:
    """Value of the cart panel: what the last cart tool returned, and nothing that no tool returned."""
    if episode is None or not any(tool["function"]["name"].startswith("cart_") for tool in episode.observation.tools):
        return {"lines": [], "total": None, "known": False, "hidden": episode is not None}
    for call in reversed([call for turn in episode.turns for call in turn.calls]):
        result = call["result"]
        if call["name"].startswith("cart_") and isinstance(result.get("lines"), list):
            lines = [{**line, "variant": variant_label(line.get("variant"))} for line in result["lines"]]
            return {"lines": lines, "total": result.get("total"), "known": True, "hidden": False}
    return {"lines": [], "total": None, "known": False, "hidden": False}


def variant_label(variant: Any) -> str:
    """A variant's attributes in one line: ``size: XS``."""
    if isinstance(variant, Mapping):
        return ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in variant.items())
    return "" if variant is None else str(variant)


def cards(episode: Episode | None) -> dict[str, Any]:
    """Value of the product cards: everything tools returned in this episode, newest first."""
    if episode is None:
        return {"episode": "", "cards": [], "recommends": False, "hidden": False}
    found: dict[str, dict[str, Any]] = {}
    calls = [(turn, call) for turn in episode.turns for call in turn.calls]
    for position, (turn, call) in enumerate(calls):
        for place, item in enumerate(products_in(call["result"])):
            card = found.setdefault(item["id"], _blank_card(item["id"]))
            _merge(card, item)
            card["order"] = (-position, place)
            card["source"] = _source(turn, call)
    ordered = sorted(found.values(), key=lambda card: card["order"])
    for card in ordered:
        del card["order"]
    recommends = "recommended_product_ids" in episode.observation.answer_fields
    hidden = not _shows_products(episode)
    return {"episode": episode.key, "cards": ordered, "recommends": recommends, "hidden": hidden}


def _shows_products(episode: Episode) -> bool:
    """Whether any tool of the environment shows products."""
    return any(tool["function"]["name"].startswith(PRODUCT_TOOLS) for tool in episode.observation.tools)


def _source(turn: Turn, call: Mapping[str, Any]) -> str:
    return f"{call['name'].removeprefix('catalog_').removeprefix('user_get_').replace('_', ' ')}, turn {turn.number}"


def products_in(result: Any) -> Iterator[dict[str, Any]]:
    """The products in a tool result, each with its id under `id`; the cart has a panel of its own."""
    if not isinstance(result, Mapping):
        return
    if isinstance(result.get("title"), str) and ("id" in result or "variants" in result):
        yield {**result, "id": result.get("id", result.get("product_id"))}
    for name in ("results", "products"):
        entries = result.get(name)
        for entry in entries if isinstance(entries, list) else ():
            yield from products_in(entry)


def _blank_card(product_id: str) -> dict[str, Any]:
    card: dict[str, Any] = dict.fromkeys(("price", "rating", "ship_days", "stock", "in_stock", "similarity"))
    text = dict.fromkeys(("title", "type", "category", "color", "description"), "")
    return {"product_id": product_id, **card, **text, "attributes": {}, "variants": []}


def _merge(card: dict[str, Any], item: Mapping[str, Any]) -> None:
    """Put what a later result says over what an earlier one said."""
    for name in ("title", "type", "category", "description", "price", "rating", "ship_days", "stock", "similarity"):
        if item.get(name) is not None:
            card[name] = item[name]
    attributes = {"brand": item["brand"]} if item.get("brand") else {}
    attributes.update(item.get("attributes") or {})
    card["attributes"].update(attributes)
    card["color"] = card["attributes"].get("color", "")
    if "variants" in item:
        card["variants"] = [_variant(variant) for variant in item["variants"]]
        card["in_stock"] = any(variant["in_stock"] for variant in card["variants"]) if card["variants"] else None
    if item.get("stock") is not None:
        card["in_stock"] = item["stock"] > 0


def _variant(variant: Mapping[str, Any]) -> dict[str, Any]:
    stock = variant.get("stock")
    return {
        "variant_id": variant.get("variant_id"),
        "label": variant_label(variant.get("attributes")),
        "price": variant.get("price"),
        "stock": stock,
        "in_stock": stock is None or stock > 0,
    }
