"""Whether a piece of text asks about a slot: the evidence, weighed.

The weights are those of a logistic regression on questions written for this purpose, none of which is in the library
(`scripts/calibrate_understanding.py` makes them and says how well they do); they are kept in `weights.json`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources

import numpy as np

from ecomrlve.customer.asking.evidence import FEATURES, Unit, barred, evidence
from ecomrlve.customer.ledger import Slot

NEVER = -99.0


@lru_cache(maxsize=1)
def _weights() -> tuple[np.ndarray, float, float]:
    text = resources.files("ecomrlve.customer.asking").joinpath("weights.json").read_text("utf-8")
    data = json.loads(text)
    return np.array([data["weights"][name] for name in FEATURES]), data["intercept"], data["threshold"]


def scores(units: Sequence[Unit], slots: Sequence[Slot]) -> np.ndarray:
    """How much speaks for each slot being asked about in any of the pieces; above 0 it is.

    Args:
        units: Pieces of one sentence.
        slots: The slots it may ask about.

    Returns:
        Shape (slots,): the best piece's log odds above the threshold.
    """
    best = np.full(len(slots), NEVER)
    weights, intercept, threshold = _weights()
    for unit in units:
        # A sum of products in a fixed order, so that it is the same everywhere.
        odds = (evidence(unit, slots) * weights).sum(axis=1) + intercept - threshold
        odds[np.array(barred(unit, slots), dtype=bool)] = NEVER
        best = np.maximum(best, odds)
    return best
