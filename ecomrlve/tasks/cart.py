"""E_CART: put exactly the right products, variants and quantities into the cart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from ecomrlve.catalog.filters import Constraint
from ecomrlve.customer.ledger import Ledger, Slot
from ecomrlve.customer.persona import draw_persona
from ecomrlve.difficulty import Difficulty, sigmoid
from ecomrlve.errors import GenerationError
from ecomrlve.rewards import cart_f1, cart_reward
from ecomrlve.shop.world import Setting, World
from ecomrlve.streams import Stream, key_of, unit_hashes
from ecomrlve.tasks import cart_sight
from ecomrlve.tasks.base import Hazards, Plan, Problem, Sight, Verdict, ask_turns
from ecomrlve.tasks.identify import identifying, matching_rows, slot_of

LEAST_STOCK = 4  # the largest quantity that is asked for
QUANTITIES = (2, 3, 4)
SAMPLES = (16, 128, 8192)  # rows looked at for an item that is wanted with, or without, variants
ITEM_TRIES = 40
FEW = 100  # of so many products at most lookalikes are drawn


class CartAnswer(BaseModel):
    """The answer of E_CART: the cart itself is what counts."""

    model_config = ConfigDict(strict=True, extra="ignore")
    done: bool = True


@dataclass(frozen=True, slots=True)
class Fallback:
    """What replaces an item that is fated to sell out; row None drops the item."""

    row: int | None
    variant: int | None


@dataclass(frozen=True, slots=True)
class Item:
    """One thing on the list.

    Attributes:
        row, variant: What is wanted at first; a change of mind stands in the ledger.
        quantity: How many.
        lookalikes: Rows in the visit history that are easily taken for it.
        fallback: Set if the item is fated to sell out.
    """

    row: int
    variant: int | None
    quantity: int
    lookalikes: tuple[int, ...]
    fallback: Fallback | None = None


def items_wanted(d: int) -> int:
    """Distinct items on the list: 1, 2, 3, 4 at d = 0, 3, 6, 9 (published)."""
    return min(5, 1 + d // 3)


def variant_probability(d: int) -> float:
    """Probability that an item comes in variants: 21, 66, 93, 99 % at d = 0, 3, 6, 9 (published)."""
    return sigmoid((d - 2) / 1.52)


def quantity_probability(d: int) -> float:
    """Probability that more than one is wanted: 0, 30, 50, 50 % at d = 0, 3, 6, 9 (published)."""
    return min(0.5, 0.1 * d)


class CartTask:
    """The E_CART task (see `tasks.base.Task`)."""

    env_id = "E_CART"
    title = "Cart building"
    instructions = (
        "The customer wants certain products in the cart: the exact product, variant and quantity of each. Fill the "
        "cart, ask about what is unclear, and submit when the cart is exactly right."
    )
    tools = (
        "catalog_search", "catalog_get_variants", "catalog_get_product", "cart_add", "cart_update", "cart_remove",
        "cart_view", "user_get_visit_history",
    )  # fmt: skip
    answer: type[BaseModel] = CartAnswer

    def setting(self, axes: Difficulty, hazards: Hazards) -> Setting:
        """Products in variants, which sell out one by one. They are the optional part: without, a turn is saved."""
        return Setting(variant_probability(axes.d) if hazards.optional else 0.0, by_variant=True)

    def draw(
        self, world: World, axes: Difficulty, key: tuple[Any, ...], hazards: Hazards, salt: tuple[Any, ...]
    ) -> Problem:
        """Draw items, lookalikes, fallbacks and a change of mind."""
        share = world.setting.variant_share
        stream = Stream("problem", *key, *salt)
        items: list[Item] = []
        count = items_wanted(axes.d)
        for _ in range(count):
            items.append(self._draw_item(world, axes, stream, items, count, share))
        history = [row for item in items for row in (item.row, *item.lookalikes)]
        world.history = Stream("history", *key, *salt).shuffled(sorted(set(history)))
        slots, asleep = self._slots(world, items)
        persona = draw_persona(Stream("persona", *key, *salt), (), ())
        return Problem(
            slots=slots,
            goal=tuple(items),
            persona=persona,
            world=world,
            asleep=frozenset(asleep),
            drawn={
                "items": len(items),
                "variants": sum(item.variant is not None for item in items),
                "quantities": sum(item.quantity > 1 for item in items),
                "units": len(items),
                "fated": sum(item.fallback is not None for item in items),
            },
        )

    def _draw_item(
        self, world: World, axes: Difficulty, stream: Stream, items: Sequence[Item], count: int, share: float
    ) -> Item:
        wants_variant = stream.chance(share)
        quantity = stream.choice(QUANTITIES) if stream.chance(quantity_probability(axes.d)) else 1
        # Never the last item: one that stays was drawn before, or one is still to come that then may not be dropped.
        may_drop = len(items) + 1 < count or any(i.fallback is None or i.fallback.row is not None for i in items)
        lookalikes = max(3, 2 * count) // count
        for _ in range(ITEM_TRIES):
            row = self._draw_row(world, stream, items, wants_variant)
            if row is None or identifying(world.catalog, row) is None:
                continue
            near = self._lookalikes(world, stream, row, lookalikes)
            variant = None
            if world.variants.has(row):
                stocked = [n for n, v in enumerate(world.variants_of(row)) if v.stock >= LEAST_STOCK]
                if not stocked:
                    continue
                variant = stream.choice(stocked)
            item = Item(row, variant, quantity, near)
            if not world.stock.fated(row, variant):
                return item
            fallback = self._fallback(world, stream, item, may_drop)
            if fallback is not None:
                return Item(row, variant, quantity, near, fallback)
        raise GenerationError(
            f"catalog {world.catalog.name!r} has too few products in stock for an E_CART problem; "
            "where stock is unknown, map its column or let the mapping synthesize it"
        )

    def _draw_row(self, world: World, stream: Stream, items: Sequence[Item], wants_variant: bool) -> int | None:
        """A row in stock, of a type not on the list yet, with or without variants as wanted if there is one."""
        catalog = world.catalog
        used = [catalog.type_codes[item.row] for item in items]
        fitting = np.empty(0, np.int64)
        for size in SAMPLES:
            rows = (unit_hashes(key_of("rows", stream.uniform()), np.arange(size)) * len(catalog)).astype(np.int64)
            mask = catalog.stock[rows] >= LEAST_STOCK
            for code in used:
                mask &= catalog.type_codes[rows] != code
            fitting = rows[mask]
            exact = fitting[world.variants.having(fitting) == wants_variant]
            if len(exact):
                return int(exact[0])
        return int(fitting[0]) if len(fitting) else None

    def _lookalikes(self, world: World, stream: Stream, row: int, count: int) -> tuple[int, ...]:
        """Rows like this one: the same title first, then the same family, then the same type."""
        catalog = world.catalog
        chosen: list[int] = []
        same_type = catalog.rows_of_type(catalog.type_of(row))
        for pool in (catalog.rows_titled(catalog.titles[row]), catalog.rows_of_family(row), same_type):
            rows = np.asarray(pool)
            if len(rows) > FEW:  # a big type: some of it will do
                start = stream.integer(len(rows) - FEW)
                rows = rows[start : start + FEW]
            rows = rows[catalog.stock[rows] >= LEAST_STOCK]
            fresh = [other for other in rows.tolist() if other != row and other not in chosen]
            chosen += stream.sample(fresh, count - len(chosen))
        return tuple(chosen)

    def _fallback(self, world: World, stream: Stream, item: Item, may_drop: bool) -> Fallback | None:
        """What to do when the item sells out; never something that sells out itself."""
        choices: list[Fallback] = []
        if item.variant is not None:
            others = [
                Fallback(item.row, number)
                for number in range(len(world.variants_of(item.row)))
                if number != item.variant and world.stock.lasting(item.row, number) >= LEAST_STOCK
            ]
            choices += stream.sample(others, 1)
        products = []
        for row in item.lookalikes:
            if identifying(world.catalog, row) is None:
                continue
            numbers: Sequence[int | None] = range(len(world.variants_of(row))) if world.variants.has(row) else (None,)
            products += [Fallback(row, n) for n in numbers if world.stock.lasting(row, n) >= LEAST_STOCK]
        choices += stream.sample(products, 1)
        if may_drop:
            choices.append(Fallback(None, None))
        return stream.choice(choices) if choices else None

    def _slots(self, world: World, items: Sequence[Item]) -> tuple[list[Slot], list[str]]:
        heads, identify, variants, quantities, fallbacks = [], [], [], [], []
        for index, item in enumerate(items):
            title = world.catalog.titles[item.row]

            def slot(part: str, kind: str, attribute: str, value: Any, index: int = index, title: str = title) -> Slot:
                return slot_of(world.catalog, f"item{index}{part}", kind, attribute, "eq", value, index, title)

            heads.append(slot("", "item", "title", title))
            for constraint in identifying(world.catalog, item.row) or ():
                identify.append(
                    slot(f":identify:{constraint.attribute}", "identify", constraint.attribute, constraint.value)
                )
            if item.variant is not None:
                choices = world.variants_of(item.row)
                attribute, value = next(iter(_choice(world, item.row, item.variant).items()))
                variants.append(
                    slot_of(
                        world.catalog, f"item{index}:variant", "variant", attribute, "eq", value, index, title,
                        choices=tuple(" ".join(map(str, choice.attributes.values())) for choice in choices),
                    )
                )  # fmt: skip
            if item.quantity > 1:
                quantities.append(slot(":quantity", "quantity", "quantity", item.quantity))
            if item.fallback is not None:
                fallbacks.append(slot(":fallback", "fallback", "fallback", self._fallback_value(world, item)))
        return [*heads, *identify, *variants, *quantities, *fallbacks], [slot.key for slot in fallbacks]

    def _fallback_value(self, world: World, item: Item) -> dict[str, Any]:
        fallback = item.fallback
        assert fallback is not None
        if fallback.row is None:
            return {"do": "drop"}
        chosen = {} if fallback.variant is None else _choice(world, fallback.row, fallback.variant)
        attribute, value = next(iter(chosen.items()), (None, None))
        if fallback.row == item.row:
            return {"do": "variant", "attribute": attribute, "value": value}
        return {
            "do": "product",
            "title": world.catalog.titles[fallback.row],
            "identify": {c.attribute: c.value for c in identifying(world.catalog, fallback.row) or ()},
            "attribute": attribute,
            "value": value,
        }

    def change(self, problem: Problem, slot: Slot, axes: Difficulty, stream: Stream) -> Any | None:
        """Another variant or another quantity, of an item that does not sell out."""
        if slot.item is None or problem.goal[slot.item].fallback is not None:
            return None
        item, world = problem.goal[slot.item], problem.world
        if slot.kind == "quantity":
            return stream.choice([quantity for quantity in QUANTITIES if quantity != item.quantity])
        if slot.kind != "variant":
            return None
        others = [
            next(iter(_choice(world, item.row, number).values()))
            for number in range(len(world.variants_of(item.row)))
            if number != item.variant and world.stock.lasting(item.row, number) >= LEAST_STOCK
        ]
        return stream.choice(others) if others else None

    def plan(self, problem: Problem, axes: Difficulty) -> Plan:
        """History and questions, then variants, then the cart, then what sold out, then the answer.

        The visit history comes in turn 1. Variants of an item can be read once it is identified, and the cart filled
        once everything is said. A unit that sells out is refused then, and the fallback goes into the cart together
        with the answer, a turn later if its own variants have to be read first.
        """
        items: Sequence[Item] = problem.goal
        kinds = Counter(slot.kind for slot in problem.slots if slot.key in problem.omitted)
        asking = ask_turns(len(problem.omitted), 3, axes.turn_budget)
        identified = max(1, ask_turns(kinds["identify"], 3, axes.turn_budget))
        variants = sum(item.variant is not None for item in items)
        filled = max(asking, identified + -(-variants // axes.tool_budget)) + -(-len(items) // axes.tool_budget)
        turns = filled
        fallbacks = [item.fallback for item in items if item.fallback is not None]
        if fallbacks:
            turns = filled + 1
            if any(
                f.row is not None and f.variant is not None and f.row not in {i.row for i in items} for f in fallbacks
            ):
                turns += 1
        if problem.switch:
            turns = max(turns, 3)
        return Plan(turns + bool(problem.omitted), min(max(1, len(items)), axes.tool_budget))

    def see(self, problem: Problem, ledger: Ledger, shown: Sequence[int]) -> Sight:
        """What the customer sees in its cart."""
        required = self.required(problem, ledger)
        have = problem.world.cart.lines
        reached = required == have and not ledger.pending
        complaints = () if reached else cart_sight.complaints(problem, ledger)
        return Sight(complaints, reached, float(cart_f1(required, have)))

    def sold_out(self, problem: Problem, ledger: Ledger) -> dict[str, tuple[int, int | None]]:
        """Fallbacks of items that are sold out by now."""
        stock = problem.world.stock
        return {
            f"item{index}:fallback": stock.unit_of(item.row, item.variant)
            for index, item in enumerate(problem.goal)
            if item.fallback is not None and stock.unit_of(item.row, item.variant) in stock.sold_out
        }

    def required(self, problem: Problem, ledger: Ledger) -> dict[tuple[int, int | None], int]:
        """Units wanted per cart line, by what the slots say now; fated items are replaced by their fallback."""
        wanted: Counter[tuple[int, int | None]] = Counter()
        for index, item in enumerate(problem.goal):
            quantity = ledger.slots.get(f"item{index}:quantity")
            units = quantity.value if quantity else 1
            if item.fallback is None:
                wanted[(item.row, cart_sight.wanted_variant(problem, ledger, index))] += units
            elif item.fallback.row is not None:
                wanted[(item.fallback.row, item.fallback.variant)] += units
        return dict(wanted)

    def verify(self, problem: Problem, ledger: Ledger, answer: Mapping[str, Any], axes: Difficulty) -> Verdict:
        """F1 over units; what the customer never said is not asked for."""
        required: Counter[tuple[int, int | None]] = Counter()
        have = Counter(problem.world.cart.lines)
        for index, item in enumerate(problem.goal):
            have, required = self._judge_item(problem, ledger, index, item, have, required)
        f1 = cart_f1(required, have)
        matched = sum((required & have).values())
        parts = {
            "f1": float(f1),
            "matched": matched,
            "in_cart": sum(have.values()),
            "required": sum(required.values()),
        }
        wrong = parts["in_cart"] - matched
        missing = parts["required"] - matched
        reason = (
            "The cart is exactly right."
            if f1 == 1
            else f"{matched} of {parts['required']} units are right, {missing} missing, {wrong} wrong or too many."
        )
        return Verdict(cart_reward(required, have), f1 == 1, parts, reason, self._done(problem, required, have))

    def _judge_item(
        self, problem: Problem, ledger: Ledger, index: int, item: Item, have: Counter, required: Counter
    ) -> tuple[Counter, Counter]:
        """Add one item to what is required, with the cart's lines that an unsaid slot allows taken for it."""
        if item.fallback is not None:
            target = (item.fallback.row, item.fallback.variant)
            if item.fallback.row is None:
                return have, required
        else:
            target = (item.row, cart_sight.wanted_variant(problem, ledger, index))
            identified = [s for s in ledger.said_slots() if s.kind == "identify" and s.item == index]
            rows = matching_rows(
                problem.world.catalog,
                problem.world.catalog.titles[item.row],
                [Constraint(slot.attribute, "eq", slot.value) for slot in identified],
            )
            free_variant = item.variant is not None and not ledger.said(f"item{index}:variant")
            moved: Counter[tuple[int, int | None]] = Counter()
            for (row, variant), units in have.items():
                fits = row in rows and (free_variant or row != item.row or variant == target[1])
                moved[target if fits and (len(rows) > 1 or free_variant) else (row, variant)] += units
            have = moved
        quantity = ledger.slots.get(f"item{index}:quantity")
        units = quantity.value if quantity else 1
        if quantity and not ledger.said(quantity.key):
            units = max(1, have[target] - required[target])
        required[target] += units
        return have, required

    def _done(self, problem: Problem, required: Mapping, have: Mapping) -> list[dict[str, Any]]:
        done = []
        for line, units in problem.world.cart.lines.items():
            matched = min(units, required.get(line, 0))
            status = "match" if matched == units == required.get(line, 0) else "partial" if matched else "extra"
            done.append({**problem.world.cart_line(line, units), "status": status})
        return done

    def reveal(self, problem: Problem, ledger: Ledger) -> dict[str, Any]:
        """The exact cart that was wanted, with what happened to each item."""
        world = problem.world
        notes = {}
        for item in problem.goal:
            if item.fallback is not None and item.fallback.row is not None:
                notes[(item.fallback.row, item.fallback.variant)] = (
                    f"instead of {world.catalog.titles[item.row]}, sold out"
                )
        items = [
            {**world.cart_line(line, units), "note": notes.get(line, "")}
            for line, units in self.required(problem, ledger).items()
        ]
        return {"env_id": self.env_id, "items": items}


def _choice(world: World, row: int, variant: int) -> dict[str, str]:
    """What names a variant: its attributes joined under the first attribute's name."""
    attributes = world.variants_of(row)[variant].attributes
    first = next(iter(attributes))
    return {first: " ".join(str(value) for value in attributes.values())}
