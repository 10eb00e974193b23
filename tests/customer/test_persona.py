"""The customer's tastes: a Plackett–Luce draw, leaning towards what it asks for."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.customer.persona import Persona, draw_persona
from ecomrlve.customer.wording import STYLES
from ecomrlve.streams import Stream

DRAWS = 6000


def draws(touched: tuple[str, ...], brands: tuple[str, ...] = ()) -> list[Persona]:
    return [draw_persona(Stream("persona", seed), touched, brands) for seed in range(DRAWS)]


@pytest.mark.parametrize("touched", [(), ("price",), ("rating", "ship_days"), ("battery_life",)])
def test_orders_follow_the_formula(touched: tuple[str, ...]) -> None:
    counts = Counter(persona.priorities for persona in draws(touched))
    weights = {name: 3.0 if name in touched else 1.0 for name in ("price", "rating", "ship_days")}
    assert sum(counts.values()) == DRAWS
    for order in permutations(weights):
        chance, left = 1.0, sum(weights.values())
        for name in order:
            chance *= weights[name] / left
            left -= weights[name]
        # Four standard errors.
        assert abs(counts[order] / DRAWS - chance) < 4 * (chance * (1 - chance) / DRAWS) ** 0.5


def test_a_brand_is_preferred_by_a_quarter() -> None:
    personas = draws((), ("Ovenly", "NordHaus"))
    preferred = Counter(persona.preferred_brand for persona in personas)
    assert preferred[None] / DRAWS == pytest.approx(0.75, abs=0.025)
    assert preferred["Ovenly"] / DRAWS == pytest.approx(0.125, abs=0.02)
    assert all(("brand" in one.priorities) == (one.preferred_brand is not None) for one in personas)
    first = sum(one.priorities[0] == "brand" for one in personas) / (DRAWS - preferred[None])
    assert first == pytest.approx(0.25, abs=0.05)
    assert all(one.preferred_brand is None for one in draws(("brand",)))


@given(st.integers(0, 10**9), st.sets(st.sampled_from(["price", "rating", "brand", "color"])), st.lists(st.text()))
def test_always_whole(seed: int, touched: set[str], brands: list[str]) -> None:
    persona = draw_persona(Stream(seed), touched, brands)
    assert persona == draw_persona(Stream(seed), touched, brands)
    assert {"price", "rating", "ship_days"} <= set(persona.priorities)
    assert len(persona.priorities) == 3 + (persona.preferred_brand is not None)
    assert persona.style in STYLES
    assert persona.preferred_brand is None or persona.preferred_brand in brands
