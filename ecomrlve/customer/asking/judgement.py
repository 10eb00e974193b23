"""Whether a piece of text asks about a slot: the evidence, weighed.

The weights are those of a logistic regression on questions written for this purpose, none of which is in the library
(`scripts/calibrate_understanding.py` makes them and says how well they do); they are kept in `weights.json`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

import numpy as np

from ecomrlve.customer.asking.evidence import (
    BEFORE_VALUES,
    FEATURES,
    GROUPS,
    Scene,
    Unit,
    apart_from_values,
    scene_of,
    told_in,
)
from ecomrlve.customer.ledger import Slot

NEVER = -99.0


class _Weights(NamedTuple):
    """How much each feature weighs for a slot of each group, and what is added.

    Attributes:
        features: Shape (groups, features of a piece).
        constants: Shape (groups,): the group's own weight and the intercept, less the threshold.
    """

    features: np.ndarray
    constants: np.ndarray


@lru_cache(maxsize=1)
def _weights() -> _Weights:
    text = resources.files("ecomrlve.customer.asking").joinpath("weights.json").read_text("utf-8")
    data = json.loads(text)
    flat = np.array([data["weights"][name] for name in FEATURES])
    # Features come once for all slots, then once for each group, and last which group it is.
    parts = flat[: -len(GROUPS)].reshape(1 + len(GROUPS), -1)
    return _Weights(parts[0] + parts[1:], flat[-len(GROUPS) :] + data["intercept"] - data["threshold"])


@lru_cache(maxsize=8192)
def _before_values(scene: Scene, unit: Unit) -> tuple[np.ndarray, np.ndarray]:
    """The log odds of every slot from all that is not about values, and whether it cannot be meant at all."""
    found = apart_from_values(scene, unit)
    weights = _weights()
    # A sum of products in a fixed order, so that it is the same everywhere.
    odds = (found.base * weights.features[scene.groups, :BEFORE_VALUES]).sum(axis=1) + weights.constants[scene.groups]
    return odds, np.array(found.barred, dtype=bool)


def scores(units: Sequence[Unit], slots: Sequence[Slot]) -> np.ndarray:
    """How much speaks for each slot being asked about in any of the pieces; above 0 it is.

    Args:
        units: Pieces of one sentence.
        slots: The slots it may ask about.

    Returns:
        Shape (slots,): the best piece's log odds above the threshold.
    """
    best = np.full(len(slots), NEVER)
    if not units or not slots:
        return best
    scene = scene_of(slots)
    of_values = _weights().features[scene.groups, BEFORE_VALUES:]
    for unit in units:
        odds, barred = _before_values(scene, unit)
        told = told_in(unit, slots)
        if any(told):
            odds = odds + np.array(told) * (of_values[:, 0] + unit.recap * of_values[:, 1])
        best = np.maximum(best, np.where(barred, NEVER, odds))
    return best
