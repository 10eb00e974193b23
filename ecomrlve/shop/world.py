"""The world of one episode: the shop as the agent can see and change it.

It holds only differences from the shared catalog. It knows nothing of the goal, so whatever the tools return from it
cannot leak one.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ecomrlve.catalog.aliases import Aliases
from ecomrlve.catalog.columns import Catalog, fold
from ecomrlve.catalog.product import Variant
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.catalog.variants import VariantRule
from ecomrlve.difficulty import Difficulty
from ecomrlve.errors import Refused
from ecomrlve.shop.cart import Cart, Line
from ecomrlve.shop.orders import OrderHistory, draw_orders
from ecomrlve.shop.policies import Policies
from ecomrlve.shop.profile import Profile, draw_profile
from ecomrlve.shop.returns import Returns, department_name
from ecomrlve.shop.stock import Stock
from ecomrlve.streams import Stream, key_of

VARIANTS_PER_ROW = 1024  # more than any product has; `Catalog.from_records` refuses one that has more
FIRST_DAY = datetime.date(2025, 1, 6)
DAYS = 700
_PRODUCT_ID = re.compile(r"\bp[0-9a-z]{7}\b")


@dataclass(frozen=True, slots=True)
class Setting:
    """What kind of shop an environment plays in.

    Attributes:
        variant_share: Share of products that come in variants.
        by_variant: Whether variants sell out one by one; else whole products do.
        delivered_share: Probability that an order of the history is delivered; None makes all statuses equally likely.
        sells_out: Whether anything may sell out at all.
    """

    variant_share: float = 0.0
    by_variant: bool = False
    delivered_share: float | None = None
    sells_out: bool = True


class World:
    """One shop in one episode.

    Args:
        engine: Shared search engine with its catalog.
        axes: The episode's difficulty.
        episode_key: What all streams of the world are keyed by.
        setting: What kind of shop it is.
        sellout: Probability that a unit sells out (the budget law may have set it to 0).
    """

    def __init__(
        self,
        engine: SearchEngine,
        axes: Difficulty,
        episode_key: tuple[Any, ...],
        setting: Setting,
        *,
        sellout: float,
    ):
        self.engine = engine
        self.catalog: Catalog = engine.catalog
        self.axes = axes
        self.episode_key = episode_key
        self.setting = setting
        self.key = key_of("world", *episode_key)
        self.variants = VariantRule(self.catalog, key_of("variants", *episode_key), setting.variant_share)
        rate = sellout if setting.sells_out else 0.0
        self.stock = Stock(
            self.catalog, self.variants, key_of("events", *episode_key), rate, by_variant=setting.by_variant
        )
        self.product_ids = Aliases("p", len(self.catalog), *episode_key)
        self.variant_ids = Aliases("v", len(self.catalog) * VARIANTS_PER_ROW, *episode_key)
        self.retrieval_key = key_of("retrieval", *episode_key)
        self.today = FIRST_DAY + datetime.timedelta(days=Stream("clock", *episode_key).integer(DAYS))
        self.cart = Cart()
        self.history: list[int] = []
        # Rows in the order they were first seen.
        self.seen: dict[int, None] = {}
        # Folded title → the first row seen with it.
        self._titles: dict[str, int] = {}
        self.seen_variants: set[Line] = set()
        # Product id → whether it had been seen when it was first put into the cart or an answer.
        self.outputs: dict[str, bool] = {}
        # What this turn's results showed or refused, for the customer to hear of what is sold out.
        self.touched: set[Line] = set()
        self._returned: list[Line] = []
        # What the search tools remember of rankings that are paged through.
        self.weavings: dict[Any, Any] = {}

    @cached_property
    def profile(self) -> Profile:
        """What the shop knows about the customer."""
        return draw_profile(self.episode_key, self.today)

    @cached_property
    def policies(self) -> Policies:
        """The shop's help pages in this episode."""
        clauses, d = self.axes.policy_clauses, self.axes.d
        return Policies(self.episode_key, clauses=clauses, d=d, departments=departments_of(self.catalog))

    @cached_property
    def orders(self) -> OrderHistory:
        """The orders on the customer's account."""
        share = self.setting.delivered_share
        return draw_orders(self, count=self.axes.order_history, delivered_share=share)

    @cached_property
    def returns(self) -> Returns:
        """The returns and exchanges made in this episode."""
        return Returns(self)

    def transactions(self) -> tuple[Any, ...]:
        """The returns and exchanges that stand, without drawing anything where none was ever asked for."""
        return tuple(self.returns.active.values()) if "returns" in self.__dict__ else ()

    def row(self, product_id: str) -> int:
        """The row behind a product id.

        Raises:
            Refused: The shop does not know the id.
        """
        row = self.product_ids.decode(product_id)
        if row is None:
            raise Refused(
                "unknown_product", f"no product has the id {product_id.strip()[:40]!r}; ids come from tool results"
            )
        return row

    def variant(self, row: int, variant_id: str | None) -> int | None:
        """The variant index behind an id; None where the product has no variants and none is named.

        Raises:
            Refused: Unknown, of another product, or missing where the product comes in variants.
        """
        has = self.variants.has(row)
        if variant_id is None or not variant_id.strip():
            if has:
                raise Refused(
                    "variant_required", "this product comes in variants; catalog_get_variants lists their variant_id"
                )
            return None
        number = self.variant_ids.decode(variant_id)
        known = number is not None and has and number // VARIANTS_PER_ROW == row
        if number is None or not known or number % VARIANTS_PER_ROW >= len(self.variants.of(row)):
            raise Refused("unknown_variant", f"this product has no variant {variant_id.strip()[:40]!r}")
        return number % VARIANTS_PER_ROW

    def product_id(self, row: int) -> str:
        """The id of a row in this episode."""
        return self.product_ids.encode(row)

    def variant_id(self, row: int, variant: int) -> str:
        """The id of a variant in this episode."""
        return self.variant_ids.encode(row * VARIANTS_PER_ROW + variant)

    def variants_of(self, row: int) -> tuple[Variant, ...]:
        """The variants of a row in this episode."""
        return self.variants.of(row)

    def show(self, row: int, variant: int | None = None) -> None:
        """Note that a tool result shows this product or variant. It counts as seen when the call is over."""
        self._returned.append((row, variant))
        self.touched.add((row, variant))
        self.stock.see(row, variant)

    def end_call(self) -> None:
        """Make what the call returned count as seen from now on."""
        for row, variant in self._returned:
            if row not in self.seen:
                self.seen[row] = None
                self._titles.setdefault(self.catalog.folded_title(row), row)
            if variant is not None:
                self.seen_variants.add((row, variant))
        self._returned.clear()

    def output(self, product_id: str) -> None:
        """Note a product id that the agent put out, and whether it had been seen by then."""
        text = product_id.strip().lower()
        row = self.product_ids.decode(text)
        seen = row is not None and row in self.seen
        self.outputs[text] = self.outputs.get(text, True) and seen

    def hit(self, row: int) -> dict[str, Any]:
        """A product as search results show it: everything a constraint can use, in few words."""
        self.show(row)
        facts = self.catalog.facts(row)
        hit = {"id": self.product_id(row), **facts, "stock": self.stock.left(row)}
        # A copy: what one agent does to its results must not reach another episode.
        hit["attributes"] = dict(facts["attributes"])
        if self.variants.has(row):
            hit["has_variants"] = True
        return hit

    def cart_lines(self) -> list[dict[str, Any]]:
        """The cart as cart_view shows it."""
        return [self.cart_line(line, quantity) for line, quantity in self.cart.lines.items()]

    def cart_line(self, line: Line, quantity: int) -> dict[str, Any]:
        """One line of the cart with titles and prices."""
        row, variant = line
        chosen = None if variant is None else self.variants.of(row)[variant]
        price = float(self.catalog.columns["price"].values[row]) if chosen is None else chosen.price
        return {
            "product_id": self.product_id(row),
            "variant_id": None if variant is None else self.variant_id(row, variant),
            "title": self.catalog.titles[row],
            "variant": None if chosen is None else dict(chosen.attributes),
            "qty": quantity,
            "price": price,
        }

    def shown_in(self, message: str, seen_before: Collection[int]) -> list[int]:
        """The products that a message shows to the customer, in the order they stand in it.

        Args:
            message: What the agent says.
            seen_before: Rows seen before this turn's calls; an id shows a product only if it is one of them.
        """
        found: dict[int, int] = {}
        for match in _PRODUCT_ID.finditer(message.lower()):
            row = self.product_ids.decode(match.group())
            if row is not None and row in seen_before:
                found.setdefault(row, match.start())
        text = fold(message)
        titles = self._titles
        named = {self.catalog.folded_title(row) for row in found}
        spans = {title: place for title in titles if title in text and (place := _whole(title, text)) >= 0}
        for title, place in spans.items():
            inside = any(
                len(other) > len(title) and start <= place and place + len(title) <= start + len(other)
                for other, start in spans.items()
            )
            # Where several products share a title, ids say which are meant; the title alone shows the first seen.
            if not inside and title not in named:
                found[titles[title]] = place
        return sorted(found, key=lambda row: (found[row], row))


def _whole(title: str, text: str) -> int:
    """Where a title stands in a text as whole words, or −1: "rice" does not stand in "price"."""
    place = text.find(title)
    while place >= 0:
        end = place + len(title)
        before = place == 0 or not (text[place - 1].isalnum() and title[0].isalnum())
        after = end == len(text) or not (text[end].isalnum() and title[-1].isalnum())
        if before and after:
            return place
        place = text.find(title, place + 1)
    return -1


def departments_of(catalog: Catalog) -> tuple[str, ...]:
    """The shop's departments: the first parts of the category paths, in alphabetical order."""
    if "departments" not in catalog.memo:
        catalog.memo["departments"] = tuple(sorted({department_name(path) for path in catalog.category_names}))
    return catalog.memo["departments"]
