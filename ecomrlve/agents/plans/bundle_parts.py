"""How the reference plan of E_BUNDLE looks in a shop that is too large to read: part by part, cheapest first.

One search per part, with what is known of it as filters, shows the cheapest products that fit; more than those nobody
needs. A part is looked at again when more was said of it, and once more in the end for what has sold out meanwhile:
the same search shows the same products with their present stock.
"""

from __future__ import annotations

from typing import Any

from ecomrlve.agents.plans.base import Said, call, filters_of
from ecomrlve.protocol import Observation

MOST_READ = 100  # products per part: a shop with more of them is not read through


class PartLooks:
    """Which parts were looked at, and for what."""

    def __init__(self) -> None:
        self._looks: dict[str, tuple[str, int]] = {}  # type → the filters of its last look, and looks with them
        self._known = (0, 0)  # products seen, and facts said
        self._idle = 0

    def calls(self, view: Said, observation: Observation, told: bool) -> list[dict[str, Any]]:
        """The searches of this turn; none where every part was looked at twice with all that was said.

        Args:
            view: What was said.
            observation: The present turn.
            told: Whether everything was said.
        """
        wanted = {part["value"]: self._filters(view, part) for part in view.of_kind("part")}
        looks = {kind: self._count(kind, filters) for kind, filters in wanted.items()}
        new = [kind for kind, count in looks.items() if count == 0]
        again = [kind for kind, count in looks.items() if count == 1] if told else []
        kinds = (new + again)[: observation.tool_budget]
        self._looks.update((kind, (str(wanted[kind]), looks[kind] + 1)) for kind in kinds)
        return [
            call(
                "catalog_search",
                query=kind,
                filters=wanted[kind],
                sort="price_asc",
                limit=observation.search_depth,
            )
            for kind in kinds
        ]

    def idle(self, products: int, facts: int) -> int:
        """Turns in a row that brought nothing new; a customer to whom three bring nothing leaves.

        Args:
            products: Products seen so far.
            facts: Facts said so far.
        """
        self._idle = self._idle + 1 if (products, facts) == self._known else 0
        self._known = products, facts
        return self._idle

    def _count(self, kind: str, filters: dict[str, Any]) -> int:
        last, count = self._looks.get(kind, ("", 0))
        return count if last == str(filters) else 0

    @staticmethod
    def _filters(view: Said, part: dict[str, Any]) -> dict[str, Any]:
        mine = [slot for slot in view.of_kind("constraint") if slot["item"] == part["item"]]
        return {"type": part["value"], **filters_of(mine)}
