"""Which products a message shows to the customer: ids seen before, and titles, which stand as whole words only."""

from __future__ import annotations

from typing import Any

import pytest

from ecomrlve.shop.world import World, _whole


@pytest.mark.parametrize(
    ("title", "text", "place"),
    [
        ("rice", "the price is right", -1),
        ("rice", "rice, please", 0),
        ("rice", "licorice and rice", 13),
        ("rice", "the price of rice", 13),
        ("rice", "(rice)", 1),
        ("rice", "rices", -1),
        ("rice", "rice2", -1),
        ("rice", "2rice", -1),
        ("rice", "éricé", -1),
        ("rice", "", -1),
        ("12 v lamp", "the 12 v lamp", 4),
        ("12 v lamp", "the 112 v lamp", -1),
        # What begins or ends in a sign needs no gap there.
        ("lamp (blue)", "a lamp (blue)and more", 2),
        ('tv 55"', 'our tv 55"s', 4),
        ("rice", "rice-cooker", 0),
    ],
)
def test_a_title_stands_in_a_text_as_whole_words(title: str, text: str, place: int):
    assert _whole(title, text) == place


def seen(new_world: Any, *rows: int) -> World:
    world = new_world(0)
    for row in rows:
        world.show(row)
    world.end_call()
    return world


def retitled(world: World, row: int, title: str) -> None:
    """Let a product that was seen go by another title."""
    world._titles = {key: value for key, value in world._titles.items() if value != row} | {title: row}


def test_a_title_inside_a_word_shows_nothing(new_world: Any):
    world = seen(new_world, 5)
    retitled(world, 5, "rice")
    assert world.shown_in("What price would you like?", world.seen) == []
    assert world.shown_in("We have RICE.", world.seen) == [5]
    assert world.shown_in("Its price? That  of\nRice!", world.seen) == [5]


def test_a_title_inside_a_longer_title_shows_the_longer_only(new_world: Any):
    world = seen(new_world, 5, 6)
    retitled(world, 5, "rice")
    retitled(world, 6, "wild rice bowl")
    assert world.shown_in("The Wild Rice Bowl is nice.", world.seen) == [6]
    assert world.shown_in("The Wild Rice Bowl, filled with rice.", world.seen) in ([6], [6, 5])


def test_titles_and_ids_are_shown_in_the_order_in_which_they_stand(new_world: Any):
    world = seen(new_world, 5, 40, 80)
    titles = [world.catalog.titles[row] for row in (5, 40, 80)]
    assert len(set(titles)) == 3
    assert world.shown_in(f"{titles[2]}, {world.product_id(5)} and {titles[1].upper()}.", world.seen) == [80, 5, 40]
    assert world.shown_in(f"{titles[0]}s", world.seen) == []
    assert world.shown_in("nothing of that kind", world.seen) == []


def test_an_id_shows_a_product_only_where_it_was_seen_before_the_turn(new_world: Any):
    world = seen(new_world, 5)
    identifier = world.product_id(5)
    assert world.shown_in(f"Look at {identifier.upper()}!", world.seen) == [5]
    assert world.shown_in(f"Look at {identifier}!", ()) == []
    assert world.shown_in(f"Look at {world.product_id(6)}!", world.seen) == []
