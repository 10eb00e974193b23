"""A trajectory, read for what failures are made of: the wishes, and what the tools had shown by when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ecomrlve.evaluation.failure_causes.wish import Wish

Json = Mapping[str, Any]
CartLine = tuple[str, str | None]  # product id, variant id
_ADDING = ("cart_add", "cart_update", "return_exchange")
_MADE_UP = ("unknown_product", "unknown_variant")


class Record:
    """What a trajectory says of its episode.

    Args:
        trajectory: A trajectory as JSON data, of an episode that did not end by an invalid output.

    Attributes:
        steps: Its turns.
        list_size: Longest list of recommendations that was scored.
        wishes: What the customer was after, in the order in which it was raised.
        facts: Product id → what a tool result showed of it.
        ordered: Order line id → product id, for the lines that a tool result showed.
        sold_out: Ids of products and variants that were sold out at some time.
        made_up: Ids that were to be put into the cart or exchanged for, and do not exist.
    """

    def __init__(self, trajectory: Json):
        self.steps: Sequence[Json] = trajectory["steps"]
        self.list_size = int(trajectory["axes"]["list_size"])
        self.facts: dict[str, Json] = {}
        self.ordered: dict[str, str] = {}
        self.sold_out: set[str] = set()
        self.made_up: set[str] = set()
        self._by_turn = {step["turn"]: step for step in self.steps}
        self._shown: dict[str, int] = {}
        self._read_tools()
        self.wishes = _wishes(trajectory)

    def shown(self, identifier: str | None, before: int) -> bool:
        """Whether tool results of an earlier turn showed an id (or a tool by that name told anything)."""
        return identifier is not None and self._shown.get(identifier, before) < before

    def seen(self, identifier: str, by: int) -> bool:
        """The same, with the results of that turn itself."""
        return self.shown(identifier, by + 1)

    def cart(self, turn: int | None = None) -> dict[CartLine, Json]:
        """The cart after a turn; at the end, if none is named."""
        step = self.steps[-1] if turn is None else self._by_turn[turn]
        return {(line["product_id"], line["variant_id"]): line for line in step["shop"]["cart"]}

    def returns(self) -> Sequence[Json]:
        """The returns and exchanges that stand at the end."""
        return self.steps[-1]["shop"].get("returns", ())

    def message(self, turn: int) -> str:
        """What the agent said in a turn, in small letters."""
        return str(self._by_turn[turn]["canonical"].get("assistant_message", "")).casefold()

    def _read_tools(self) -> None:
        # Backwards, so that the first time something was shown is what remains.
        for step in reversed(self.steps):
            self.sold_out.update(step["shop"]["sold_out"])
            for call in step["tool_results"]:
                result, name = call["result"], call["name"]
                if "error" in result:
                    if result["error"]["code"] in _MADE_UP and name in _ADDING:
                        self.made_up.add(str(call["args"].get("variant_id") or call["args"].get("product_id")))
                    continue
                self._shown.update(dict.fromkeys([name, *self._ids(name, result)], step["turn"]))

    def _ids(self, name: str, result: Json) -> Iterable[str]:
        """The ids that a tool result shows. Those in the cart were shown before, or made up."""
        if name == "catalog_get_variants":
            self.sold_out.update(one["variant_id"] for one in result["variants"] if not one["stock"])
            return [result["product_id"], *(one["variant_id"] for one in result["variants"])]
        if name == "catalog_rerank":
            return list(result["product_ids"])
        if name in ("order_list", "order_get", "order_track"):
            return self._order_ids(result["orders"] if name == "order_list" else [result])
        if name in ("policy_search", "policy_get"):
            return [page["policy_id"] for page in result.get("policies", [result])]
        hits = result.get("results") or result.get("products") or ([result] if name == "catalog_get_product" else [])
        ids = [hit["id"] for hit in hits]
        self.facts.update(zip(ids, hits, strict=True))
        self.sold_out.update(hit["id"] for hit in hits if not hit["stock"])
        return ids

    def _order_ids(self, orders: Sequence[Json]) -> Iterable[str]:
        for order in orders:
            yield order["order_id"]
            for line in order.get("lines", ()):
                self.facts.setdefault(line["product_id"], line)
                self.ordered[line["line_id"]] = line["product_id"]
                yield line["line_id"]
                yield line["product_id"]


def _wishes(trajectory: Json) -> list[Wish]:
    goal, reward = trajectory["goal"], trajectory["reward"]
    goals = goal.get("intents", [goal])
    several = len(goals) > 1
    verdicts = reward["parts"]["intents"] if several else [reward]
    answers, raised, acts = _course(trajectory["steps"], len(goals))
    last = trajectory["steps"][-1]["turn"]
    found = []
    for index, (own, verdict) in enumerate(zip(goals, verdicts, strict=True)):
        start = f"{index}:" if several else ""
        end, answer = answers.get(index, (last + 1, None))
        found.append(
            Wish(
                env_id=own["env_id"],
                goal=own,
                done=[one for one in trajectory["done"] if not several or one["intent"] == own["env_id"]],
                answer=answer,
                end=end,
                correct=answer is not None and bool(verdict["correct"]),
                raised=index < raised,
                slots={e["key"].removeprefix(start): e for e in trajectory["ledger"] if e["key"].startswith(start)},
                acts=acts[index],
            )
        )
    return found


def _course(
    steps: Sequence[Json], count: int
) -> tuple[dict[int, tuple[int, Json]], int, list[dict[int, Sequence[str]]]]:
    """How the talk went from wish to wish (see `ecomrlve.intents`).

    Returns:
        Wish → turn and text of its accepted answer; how many were raised; and for each the customer's acts by turn.
    """
    open_wishes, raised = [0], 1
    answers: dict[int, tuple[int, Json]] = {}
    acts: list[dict[int, Sequence[str]]] = [{} for _ in range(count)]
    for step in steps:
        done = (step["customer"] or {}).get("acts", ())
        acts[open_wishes[-1]][step["turn"]] = done
        # The customer gives thanks for an accepted answer and for nothing else; whoever raises a wish opens it.
        if "thanks" in done:
            answers[open_wishes.pop()] = step["turn"], step["canonical"]["answer"]
        if "open" in done:
            open_wishes.append(raised)
            raised += 1
    return answers, raised, acts
