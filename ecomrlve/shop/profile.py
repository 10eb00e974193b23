"""Who the customer is to the shop. The policies tell tiers and regions apart; nothing else depends on it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from ecomrlve.shop.policy_rules import REGIONS, TIERS
from ecomrlve.streams import Stream

FIRST_NAMES = (
    "Ada", "Amir", "Bea", "Carlos", "Chloe", "Dana", "Elif", "Emeka", "Farah", "Goran", "Hana", "Ines", "Jonas",
    "Kofi", "Lena", "Mateo", "Mei", "Nadia", "Omar", "Priya", "Quentin", "Rosa", "Sven", "Tala", "Uma", "Viktor",
    "Wanda", "Yusuf", "Zoe",
)  # fmt: skip
LAST_NAMES = (
    "Abara", "Berg", "Castillo", "Dumont", "Eriksen", "Fischer", "Gupta", "Haddad", "Ivanov", "Jansen", "Kaya",
    "Lindqvist", "Moreau", "Novak", "Okafor", "Petrov", "Quigley", "Rossi", "Silva", "Tanaka", "Ueda", "Vargas",
    "Weber", "Yilmaz", "Zhang",
)  # fmt: skip
# Days since the customer joined: before the oldest order that a history holds, and at most eleven years.
SHORTEST_MEMBERSHIP, LONGEST_MEMBERSHIP = 400, 4000


@dataclass(frozen=True, slots=True)
class Profile:
    """The customer's account.

    Attributes:
        name: First and last name.
        tier: One of `TIERS`.
        region: One of `REGIONS`: where orders are sent.
        member_since: The day the account was opened.
    """

    name: str
    tier: str
    region: str
    member_since: datetime.date


def draw_profile(episode_key: tuple[Any, ...], today: datetime.date) -> Profile:
    """Draw the account of an episode. All tiers are equally likely, and all regions, so that none is a safe guess."""
    stream = Stream("profile", *episode_key)
    return Profile(
        name=f"{stream.choice(FIRST_NAMES)} {stream.choice(LAST_NAMES)}",
        tier=stream.choice(TIERS),
        region=stream.choice(REGIONS),
        member_since=today
        - datetime.timedelta(days=SHORTEST_MEMBERSHIP + stream.integer(LONGEST_MEMBERSHIP - SHORTEST_MEMBERSHIP + 1)),
    )
