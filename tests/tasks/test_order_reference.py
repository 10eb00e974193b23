"""Facts that single an order or a line out: chosen greedily, true, and told in words of the slot."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.streams import Stream
from ecomrlve.tasks.order_reference import (
    Fact,
    attributes_to_name,
    line_facts,
    order_facts,
    order_has,
    reference_slot,
    singled_out,
)

KINDS = ("a", "b", "c", "d")
THING = st.fixed_dictionaries({name: st.integers(0, 2) for name in KINDS})


def true_of(thing: dict[str, int], fact: Fact) -> bool:
    return thing[fact.attribute] == fact.value


@given(thing=THING, others=st.lists(THING, max_size=6), order=st.permutations(KINDS), least=st.integers(0, 4))
def test_the_facts_chosen_single_the_thing_out_and_none_is_chosen_where_nothing_does(
    thing: dict[str, int], others: list[dict[str, int]], order: list[str], least: int
):
    candidates = [Fact(name, thing[name]) for name in order]
    chosen = singled_out(candidates, others, true_of, least)
    if chosen is None:
        assert any(other == thing for other in others)
        return
    assert not any(all(true_of(other, fact) for fact in chosen) for other in others)
    assert len(chosen) >= least
    # In the order in which they were tried; more than the least only where each tells it from somebody.
    assert [fact for fact in candidates if fact in chosen] == chosen
    left = list(others)
    for fact in chosen:
        still = [other for other in left if true_of(other, fact)]
        assert len(still) < len(left) or len(chosen) == least
        left = still


def test_a_thing_alone_needs_no_more_than_the_least_facts():
    candidates = [Fact(name, 1) for name in KINDS]
    assert singled_out(candidates, [], true_of, 2) == candidates[:2]
    assert singled_out(candidates, [], true_of, 0) == []


def test_a_fact_that_tells_it_from_nobody_is_left_out():
    thing = {"a": 1, "b": 2, "c": 0, "d": 0}
    others = [{"a": 1, "b": 0, "c": 0, "d": 0}, {"a": 1, "b": 2, "c": 1, "d": 0}]
    chosen = singled_out([Fact(name, thing[name]) for name in KINDS], others, true_of, 1)
    assert chosen == [Fact("b", 2), Fact("c", 0)]


def test_an_exact_twin_cannot_be_told_apart():
    thing = dict.fromkeys(KINDS, 1)
    assert singled_out([Fact(name, 1) for name in KINDS], [dict(thing)], true_of, 1) is None


def test_order_has_is_what_the_order_shows(new_world: Any):
    for seed in range(10):
        world = new_world(seed, d=9, delivered_share=None)
        for order in world.orders.orders:
            facts = order_facts(world, order)
            assert facts == {"ordered_on": order.placed.isoformat(), "order_total": order.total}
            assert all(order_has(world, order, Fact(name, value)) for name, value in facts.items())
            assert order_has(world, order, Fact("order_id", world.orders.order_id(order.number)))
            types = {world.catalog.type_of(line.row) for line in order.lines}
            for kind in world.catalog.type_names:
                assert order_has(world, order, Fact("bought", kind)) == (kind in types)
            # An order is named by the kind of thing in it; its title is not known to be true of it.
            titles = {world.catalog.titles[line.row] for line in order.lines} - types
            assert not any(order_has(world, order, Fact("bought", title)) for title in titles)
            assert not order_has(world, order, Fact("order_total", order.total + 0.01))
            assert not order_has(world, order, Fact("bought", "no such thing"))
            for other in world.orders.orders:
                same = other.number == order.number
                assert order_has(world, order, Fact("order_id", world.orders.order_id(other.number))) == same


def test_line_facts_are_what_order_list_shows(new_world: Any, call: Any):
    for seed in range(6):
        world = new_world(seed, d=6)
        lines = [(order, line) for order in world.orders.orders for line in order.lines]
        shown: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
        page, more = 1, True
        while more:
            result = call(world, "order_list", page=page)
            for order in result["orders"]:
                shown |= {line["line_id"]: (order, line) for line in order["lines"]}
            more, page = result["more"], page + 1
        assert len(shown) == len(lines)
        for order, line in lines:
            facts = line_facts(world, order, line)
            told, entry = shown[world.orders.line_id(line.number)]
            assert facts.pop("ordered_on") == told["placed"]
            assert facts.pop("delivered_on", None) == told.get("delivered")
            assert (facts.pop("paid"), facts.pop("quantity")) == (entry["price"], entry["qty"])
            assert (facts.pop("bought"), facts.pop("brand", None)) == (entry["title"], entry.get("brand"))
            assert facts == entry["attributes"]


def test_attributes_to_name_are_few_known_and_of_the_product(new_world: Any):
    world = new_world(0)
    different = set()
    for row in range(0, 2000, 40):
        names = attributes_to_name(world, row, Stream("names", row))
        assert len(names) == len(set(names)) <= 3
        assert set(names) <= set(world.catalog.type_attributes(row))
        different.add(tuple(names))
    assert len(different) > 20


@pytest.mark.parametrize(
    ("fact", "label", "unit"),
    [
        (Fact("order_id", "o1234567"), "order number", ""),
        (Fact("bought", "A lamp"), "product", ""),
        (Fact("ordered_on", "2025-03-04"), "order date", ""),
        (Fact("delivered_on", "2025-03-04"), "delivery date", ""),
        (Fact("order_total", 12.5), "order total", "$"),
        (Fact("paid", 12.5), "price paid", "$"),
        (Fact("quantity", 2), "quantity", ""),
    ],
)
def test_a_fact_becomes_a_slot_with_words_to_ask_for_it(new_world: Any, fact: Fact, label: str, unit: str):
    slot = reference_slot(new_world(0), fact, "lamp")
    assert (slot.key, slot.kind, slot.attribute) == (f"reference:{fact.attribute}", "reference", fact.attribute)
    assert (slot.operator, slot.value, slot.item, slot.item_name) == ("eq", fact.value, None, "lamp")
    assert (slot.label, slot.unit) == (label, unit)
    assert slot.synonyms


def test_a_catalog_attribute_becomes_a_slot_with_the_catalogs_words(new_world: Any):
    world = new_world(0)
    name = next(n for n in world.catalog.type_attributes(0) if world.catalog.columns[n].get(0) is not None)
    value = world.catalog.columns[name].get(0)
    slot = reference_slot(world, Fact(name, value), "lamp")
    assert (slot.key, slot.kind, slot.value) == (f"reference:{name}", "reference", value)
    assert slot.label == world.catalog.columns[name].info.label
    assert slot.choices == ()
