"""Find the weights by which the customer's understanding judges a question, and measure how well it does.

    python scripts/calibrate_understanding.py fit       # from the questions written for it; writes weights.json
    python scripts/calibrate_understanding.py measure   # of all question sets: precision, recall and F1 over slots

The weights are those of a logistic regression over pairs of a message and a slot; a message counts by the piece of it
that speaks most for the slot, which is found anew in each of a few rounds. What `fit` measures is cross-validated: no
message is judged by weights that have seen its problem. The test set takes part in nothing but `measure`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from ecomrlve.customer import errand_cues
from ecomrlve.customer.asking.cues import item_words, matter_words
from ecomrlve.customer.asking.evidence import FEATURES, barred, evidence
from ecomrlve.customer.asking.units import askings
from ecomrlve.customer.ledger import HEADS, Slot

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = ROOT / "tests/customer/questions"
WEIGHTS = ROOT / "ecomrlve/customer/asking/weights.json"
SETS = ("development", "training", "test")
FITTED = ("development", "training")
STRENGTH = 0.03  # of the regression's prior, chosen by cross-validation among 0.01, 0.03, 0.1 and 0.3
ROUNDS = 4
NEVER = -99.0


def slots_of(name: str) -> dict[str, list[Slot]]:
    """Problem → its slots, of one question set."""
    found = {}
    for key, problem in yaml.safe_load((QUESTIONS / f"{name}_scenarios.yaml").read_text("utf-8")).items():
        many = (
            {**slot, **{part: tuple(slot.get(part, ())) for part in ("synonyms", "choices")}}
            for slot in problem["slots"]
        )
        found[key] = [Slot(**slot) for slot in many]
    return found


def cases_of(name: str) -> list[dict[str, Any]]:
    """The messages of one question set, with their labels."""
    files = sorted(QUESTIONS.glob(f"{name}_[a-z].yaml")) or [QUESTIONS / f"{name}.yaml"]
    return [case for file in files for case in yaml.safe_load(file.read_text("utf-8"))]


class Message:
    """One message with the evidence for every slot."""

    def __init__(self, name: str, case: dict[str, Any], slots: list[Slot]):
        errand = any(slot.kind in errand_cues.KINDS for slot in slots)
        self.group = f"{name} {case['in']}"
        self.slots = [slot for slot in slots if slot.kind not in HEADS]
        self.asked = np.array([slot.key in case["asks"] for slot in self.slots], dtype=bool)
        found = askings(case["say"], item_words(slots), matter_words(slots), errand)
        units = [unit for asking in found for unit in asking.units]
        shape = (len(units), len(self.slots), len(FEATURES))
        self.evidence = np.array([evidence(unit, self.slots) for unit in units]).reshape(shape)
        self.barred = np.array([barred(unit, self.slots) for unit in units], dtype=bool).reshape(shape[:2])

    def odds(self, weights: np.ndarray, intercept: float) -> np.ndarray:
        """The best piece's log odds for every slot."""
        if not len(self.evidence):
            return np.full(len(self.slots), NEVER)
        odds = self.evidence @ weights + intercept
        odds[self.barred] = NEVER
        return odds.max(axis=0)


def fit(messages: list[Message]) -> tuple[np.ndarray, float]:
    """Weights and intercept, for features that are not scaled."""
    weights, intercept = np.zeros(len(FEATURES)), 0.0
    for name in ("meaning", "words", "cue", "ahead in both"):
        weights[FEATURES.index(name)] = 1.0
    for _ in range(ROUNDS):
        rows, asked = [], []
        for message in messages:
            if not len(message.evidence):
                continue
            odds = message.evidence @ weights + intercept
            odds[message.barred] = NEVER
            for place in range(len(message.slots)):
                best = int(odds[:, place].argmax())
                if not message.barred[best, place]:
                    rows.append(message.evidence[best, place])
                    asked.append(message.asked[place])
        scaler = StandardScaler().fit(np.array(rows))
        model = LogisticRegression(C=STRENGTH, max_iter=5000).fit(scaler.transform(np.array(rows)), np.array(asked))
        weights = model.coef_[0] / scaler.scale_
        intercept = float(model.intercept_[0] - (weights * scaler.mean_).sum())
    return weights, intercept


def f1(messages: list[Message], odds: list[np.ndarray], threshold: float) -> float:
    """Over all pairs of a message and a slot."""
    right = wrong = missed = 0
    for message, values in zip(messages, odds, strict=True):
        given = values > threshold
        right += int((given & message.asked).sum())
        wrong += int((given & ~message.asked).sum())
        missed += int((~given & message.asked).sum())
    return 2 * right / max(1, 2 * right + wrong + missed)


def calibrate() -> None:
    """Fit, choose the threshold by cross-validation, and write the weights."""
    messages = []
    for name in FITTED:
        slots = slots_of(name)
        messages += [Message(name, case, slots[case["in"]]) for case in cases_of(name)]
    odds: list[np.ndarray] = [np.zeros(0)] * len(messages)
    for train, held in GroupKFold(8).split(messages, groups=[message.group for message in messages]):
        weights, intercept = fit([messages[number] for number in train])
        for number in held:
            odds[number] = messages[number].odds(weights, intercept)
    thresholds = np.round(np.arange(-2.0, 1.01, 0.1), 1)
    values = {float(threshold): f1(messages, odds, threshold) for threshold in thresholds}
    # The curve is flat at the top: of what is as good, what says less.
    best = max(threshold for threshold, value in values.items() if value > max(values.values()) - 0.002)
    print(f"{len(messages)} messages, cross-validated F1 {f1(messages, odds, best):.3f} at threshold {best}")
    weights, intercept = fit(messages)
    data = {
        "threshold": float(best),
        "intercept": round(intercept, 4),
        "weights": {name: round(float(value), 4) for name, value in zip(FEATURES, weights, strict=True)},
    }
    WEIGHTS.write_text(json.dumps(data, indent=1) + "\n", "utf-8")


def measure(names: list[str], wrong: bool = False) -> None:
    """How well `understand` does on question sets, as it is used."""
    from ecomrlve.customer.understanding import understand

    for name in names:
        slots, counts, environments = slots_of(name), Counter[str](), {}
        cases = cases_of(name)
        for case in cases:
            found = understand(case["say"], slots[case["in"]])
            asked, given = set(case["asks"]), set(found.asked)
            own = environments.setdefault(case["in"].split("-")[0], Counter[str]())
            for counter in (counts, own):
                counter.update(right=len(asked & given), wrong=len(given - asked), missed=len(asked - given))
                counter.update(messages=1, exact=asked == given)
            for kind, wanted, is_so in (
                ("open", bool(case.get("open")), found.open),
                ("confirm", bool(case.get("confirm")), found.confirm),
                ("nothing", bool(case.get("nothing")), found.question and not (given or found.open or found.confirm)),
                (
                    "silent",
                    not (asked or case.get("open") or case.get("confirm") or case.get("nothing")),
                    not found.question,
                ),
            ):
                counts[
                    f"{kind} {'right' if is_so else 'missed'}" if wanted else f"{kind} {'false' if is_so else ''}"
                ] += 1
            for key, right in case.get("claims", {}).items():
                counts["claims right" if found.claims.get(key) == right else "claims other"] += 1
            if wrong and (asked != given or found.open != bool(case.get("open"))):
                lost, added = sorted(asked - given), sorted(given - asked)
                print(f"{case['in']} | {case['say']} | missed {lost} | wrong {added} | open {found.open}")
        precision = counts["right"] / max(1, counts["right"] + counts["wrong"])
        recall = counts["right"] / max(1, counts["right"] + counts["missed"])
        print(
            f"{name}: {len(cases)} messages, precision {precision:.3f}, recall {recall:.3f}, F1 {_f1(counts):.3f}, "
            f"all slots of a message right {counts['exact'] / len(cases):.3f}"
        )
        print("  F1 by environment:", ", ".join(f"{key} {_f1(own):.2f}" for key, own in environments.items()))
        for kind in ("open", "confirm", "nothing", "silent"):
            right, missed, false = (counts[f"{kind} {what}"] for what in ("right", "missed", "false"))
            print(f"  {kind}: {right} right, {missed} missed, {false} false")
        stated = counts["claims right"] + counts["claims other"]
        print(f"  stated values: {counts['claims right']} of {stated} judged right")


def _f1(counts: Counter[str]) -> float:
    return 2 * counts["right"] / max(1, 2 * counts["right"] + counts["wrong"] + counts["missed"])


if __name__ == "__main__":
    if sys.argv[1:2] == ["fit"]:
        calibrate()
    else:
        measure([name for name in sys.argv[2:] if not name.startswith("-")] or list(SETS), "--wrong" in sys.argv)
