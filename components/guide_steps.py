"""The steps of the guided first episode: what there is to do next, and where on the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from components.episode import Turn
from components.guide_reading import Product, Sight
from components.views import variant_label

Point = dict[str, Any]
SINGLE, SEVERAL = "single", "several"
WHICH_ONE = "Which model exactly would you like?"


def point(at: str, text: str, *, only: str = "", done: Mapping[str, Any] | None = None, **place: Any) -> Point:
    """One thing to do.

    Args:
        at: The place on the page, as `assets/js/guide.js` knows it.
        text: What to do there; names of tools stand between backticks.
        only: Where it is only for one way of taking turns: `SINGLE` (one thing a turn) or `SEVERAL`.
        done: When it is done, as the browser can tell; a point without it is done when the turn is taken.
        place: More about the place, such as the product.
    """
    return {"at": at, "text": text, "only": only, "done": dict(done or {}), **place}


@dataclass(frozen=True, slots=True)
class Step:
    """What to do next.

    Attributes:
        stage: 1 for the first of the guide's stages.
        title: In a few words.
        points: What to do, one after the other.
        calls: Tools whose call is what was suggested.
        product: The product that such a call is to be about, or "" for any.
        message: A message is what was suggested.
    """

    stage: int
    title: str
    points: tuple[Point, ...]
    calls: tuple[str, ...] = ()
    product: str = ""
    message: bool = False

    def fits(self, turn: Turn) -> bool:
        """Whether a turn is what was suggested here."""
        made = [call for call in turn.calls if call["name"] in self.calls]
        if self.product:
            made = [call for call in made if call["args"].get("product_id") == self.product]
        return bool(made) or (self.message and bool(turn.message))


def next_step(sight: Sight, turns: Sequence[Turn], left: int, tool_budget: int) -> Step:
    """What to do next in an episode that is running.

    Args:
        sight: What was seen and understood.
        turns: The turns taken.
        left: Turns left.
        tool_budget: Calls that one turn may hold.
    """
    product = sight.product
    if not sight.products:
        return _first_look(turns, left)
    if not sight.named:
        return _search(turns)
    if product is None:
        return _which_one(turns)
    if product.get("has_variants") and product["id"] not in sight.variants:
        return _read_variants(sight, product, tool_budget)
    if product.get("has_variants") and product["id"] not in sight.meant:
        return _which_variant(sight, product, turns)
    wanted = product["id"], _variant_id(sight, product)
    wrong = [line for line in sight.cart if line != wanted]
    if wrong:
        return _mend(wrong[0], "cart_remove", "Something in the cart is not what the customer wants.", left)
    if sight.cart.get(wanted, 1) > 1:
        return _mend(wanted, "cart_update", "The customer wants one of it.", left)
    return _hand_in() if wanted in sight.cart else _put_in(sight, product, left)


def _variant_id(sight: Sight, product: Product) -> str | None:
    meant = sight.meant.get(product["id"])
    return str(meant["variant_id"]) if meant else None


def _first_look(turns: Sequence[Turn], left: int) -> Step:
    # Short: who has never seen a tool at work is to see one within half a minute.
    welcome = point("chat", "This is your customer.", done={"read": 1})
    points = (
        *(() if turns else (welcome,)),
        _choose("user_get_visit_history", "Customers often mean what they looked at before. Choose the tool"),
        point("call", f"Press “Call now”: {'your last turn' if left == 1 else f'one of your {left} turns'}."),
    )
    return Step(1, "Meet your customer", points, calls=("user_get_visit_history", "catalog_search"))


def _choose(tool: str, text: str) -> Point:
    return point("tool", f"{text} `{tool}`.", done={"tool": tool})


def _search(turns: Sequence[Turn]) -> Step:
    tool = "catalog_search"
    queries = [str(call["args"].get("query")) for turn in turns for call in turn.calls if call["name"] == tool]
    text = "Try other words of what the customer said." if queries else "Write the name as the customer said it."
    points = (
        _choose(tool, "None of these has the name that the customer said. Choose the tool"),
        point("argument", text, name="query", done={"another": ["query", queries[-1] if queries else ""]}),
        point("call", "Press “Call now”."),
    )
    return Step(2, "Find the right one", points, calls=("catalog_search",))


def _which_one(turns: Sequence[Turn]) -> Step:
    if any(turn.message for turn in turns):
        text = "Several products still fit what the customer said. Compare their cards, and take the likeliest."
        return Step(2, "Find the right one", (point("cards", text),), calls=("catalog_get_variants", "cart_add"))
    points = (
        point(
            "message",
            "Several products fit what the customer said. Do not guess: ask. A turn with a useful question is not "
            "counted against you.",
            write=WHICH_ONE,
            done={"written": True},
        ),
        point("send", "Press “Send”."),
    )
    return Step(2, "Ask what is unclear", points, message=True)


def _read_variants(sight: Sight, product: Product, tool_budget: int) -> Step:
    tool, identifier = "catalog_get_variants", product["id"]
    ready = {"tool": tool, "argument": ["product_id", identifier]}
    points = (
        point("card", f"{_why(sight)} Press “Use id” on its card.", product=identifier, done=ready),
        point(
            "call",
            "It comes in variants, and this call lists them. Press “Call now”. Whatever the customer "
            "has not said yet is said when two turns are left.",
            only=SINGLE,
        ),
        point(
            "collect",
            "It comes in variants, and this call lists them. Press “Add to turn” instead of “Call now”: a turn can "
            f"hold {tool_budget} calls and a question.",
            only=SEVERAL,
            done={"collected": tool},
        ),
        point(
            "message",
            "Did the customer say which variant? If not, do not guess: ask. A turn with a useful question is not "
            "counted against you.",
            only=SEVERAL,
            write=_question(sight),
            done={"written": True},
        ),
        point("send", "Press “Send turn”: the call and the question go together.", only=SEVERAL),
    )
    return Step(2, "Find the right one", points, calls=(tool,), product=identifier)


def _question(sight: Sight) -> str:
    """Asks for what variants differ in, where some were listed already."""
    names = {name for listed in sight.variants.values() for variant in listed for name in variant["attributes"]}
    return f"Which {' and '.join(sorted(names)).replace('_', ' ') or 'size or version'} would you like?"


def _why(sight: Sight) -> str:
    """Why it is this product."""
    if len(sight.named) == 1:
        return "This is the one that the customer named."
    marks = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in sight.marks.items())
    return f"{len(sight.named)} products have the name that the customer said, but only one has {marks}."


def _which_variant(sight: Sight, product: Product, turns: Sequence[Turn]) -> Step:
    if turns and turns[-1].message:
        text = "The customer has not said which variant. Choose one that is in stock: press “Use” beside it."
        return Step(3, "Fill the cart", (point("card", text, product=product["id"]),), calls=("cart_add",))
    points = (
        point(
            "message",
            "Which variant? The customer did not say. Do not guess: ask.",
            write=_question(sight),
            done={"written": True},
        ),
        point("send", "Press “Send”."),
    )
    return Step(3, "Ask what is unclear", points, message=True)


def _put_in(sight: Sight, product: Product, left: int) -> Step:
    identifier, variant = product["id"], sight.meant.get(product["id"])
    ready: dict[str, Any] = {"tool": "cart_add", "argument": ["product_id", identifier]}
    if variant is None:
        take: tuple[Point, ...] = (
            _choose("cart_add", f"{_why(sight)} Choose the tool"),
            point("card", "Press “Use id” on its card.", product=identifier, done=ready),
        )
    else:
        ready["argument"] = ["variant_id", variant["variant_id"]]
        text = f"The customer wants {variant_label(variant['attributes'])}. Press “Use” beside it, for both ids."
        take = (point("variant", text, product=identifier, variant=variant["variant_id"], done=ready),)
    last: tuple[Point, ...] = ()
    if left == 1:
        text = "This is your last turn, and the cart and the answer both have to go into it. Switch this off."
        last = (point("single", text, only=SINGLE, done={"several": True}),)
    points = (
        *last,
        *take,
        point("call", "One piece is right: no other number was named. Press “Call now”.", only=SINGLE),
        point(
            "collect",
            "One piece is right: no other number was named. Press “Add to turn”: your answer can share the turn, and "
            "fewer turns earn more.",
            only=SEVERAL,
            done={"collected": "cart_add"},
        ),
        point("submit", "Press “Submit answer”. In this task the cart itself is the answer.", only=SEVERAL),
    )
    return Step(3, "Fill the cart", points, calls=("cart_add",), product=identifier)


def _mend(line: tuple[str, str | None], tool: str, why: str, left: int) -> Step:
    """Take a line out of the cart, or bring it down to one piece."""
    product, variant = line
    ready = {"tool": tool, "argument": ["variant_id", variant] if variant else ["product_id", product]}
    place = point("variant", "Press “Use” beside it.", product=product, variant=variant, done=ready)
    if variant is None:
        place = point("card", "Press “Use id” on its card.", product=product, done=ready)
    one = point("argument", "Write 1.", name="qty", done={"argument": ["qty", "1"]})
    finish: tuple[Point, ...] = (point("call", "Press “Call now”."),)
    if left == 1:
        finish = (
            point("collect", "Press “Add to turn”.", only=SEVERAL, done={"collected": tool}),
            point("submit", "This is your last turn: press “Submit answer”."),
        )
    points = (_choose(tool, f"{why} Choose the tool"), place, *((one,) if tool == "cart_update" else ()), *finish)
    return Step(3, "Mend the cart", points, calls=("cart_remove", "cart_update"))


def _hand_in() -> Step:
    text = "The cart holds exactly what the customer asked for, and here the cart is the answer. Press “Submit answer”."
    return Step(4, "Hand it in", (point("submit", text),))


def ending() -> Step:
    """What there is to read after the end."""
    points = (
        point(
            "score",
            "This is your reward, from −1 to +1. Code computes it from the goal that was hidden until now; nobody’s "
            "opinion is in it.",
            done={"read": 1},
        ),
        point(
            "waterfall",
            "It has three parts. The task counts most; then how few turns you needed; and ids that you made up cost "
            "something.",
            done={"read": 2},
        ),
        point("goal", "The hidden goal beside what you did, and when the customer said what.", done={"read": 3}),
        point("another", "That was a whole episode. “Another” is a new customer; “Harder” is one that takes more."),
    )
    return Step(5, "Read your reward", points)
