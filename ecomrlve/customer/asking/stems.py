"""Words and their stems, and which of them carry a question's meaning."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[a-z0-9]+(?:[-'][a-z0-9]+)*")
# British spellings and what people write in a hurry, by the stem they stand for.
_SAME = {
    "colour": "color", "colours": "color", "colors": "color", "coloured": "color", "colored": "color",
    "centimetre": "centimeter", "centimetres": "centimeter", "millimetre": "millimeter", "millimetres": "millimeter",
    "litre": "liter", "litres": "liter", "millilitres": "milliliter", "metre": "meter", "metres": "meter",
    "fibre": "fiber", "fibres": "fiber", "aluminium": "aluminum", "grey": "gray", "pyjamas": "pajama", "tyre": "tire",
    "tyres": "tire", "jewellery": "jewelry", "mould": "mold", "catalogue": "catalog", "programme": "program",
    "cosy": "cozy", "odour": "odor", "flavour": "flavor", "vapour": "vapor",
    "favour": "favor", "favourite": "favorite",
    "kilos": "kg", "kilo": "kg", "kilograms": "kg", "kilogram": "kg", "grams": "gram", "grammes": "gram",
    "bought": "buy", "paid": "pay", "spent": "spend", "sent": "send", "came": "come", "arrived": "arrive",
    "arriving": "arrive", "arrival": "arrive", "delivery": "deliver", "delivered": "deliver", "heavier": "heavy",
    "heaviest": "heavy", "weigh": "weight", "weighs": "weight", "lightest": "light", "lighter": "light",
    "biggest": "big", "bigger": "big", "largest": "large", "larger": "large", "smallest": "small", "smaller": "small",
    "widest": "wide", "wider": "wide", "tallest": "tall", "taller": "tall", "longest": "long", "longer": "long",
    "highest": "high", "higher": "high", "lowest": "low", "lower": "low", "thickest": "thick", "thicker": "thick",
    "cheaper": "cheap", "cheapest": "cheap", "fastest": "fast", "faster": "fast", "quickest": "quick",
    "quicker": "quick", "quickly": "quick", "soonest": "soon", "sooner": "soon", "loudest": "loud", "louder": "loud",
    "quieter": "quiet", "brighter": "bright", "brightest": "bright", "warmer": "warm", "knives": "knife",
    "wallets": "wallet", "woolly": "wool", "woollen": "wool", "wooden": "wood",
}  # fmt: skip
SMALL_WORDS = frozenset(
    """what which how do does did you your have has any a an the is are for would could can should want need prefer
    like it this that these those me tell know let please in on of to with and or about there will be i we they
    them it's i'd i'll what's that's you'd you're you've there's i'm i've let's don't so just only also then than ok
    okay thanks thank hi hello well now one ones some as at by from up if when where who whose our us my its his her
    new get got must may might shall had was were been being pls ask more most least much many other else very too not
    no but out into over what'd whats hows sort kind type rather ideally roughly exactly particular certain mind fine
    sure right wanted wants needs needed going go take give us here am isn't doesn't didn't won't can't""".split()
)


@lru_cache(maxsize=4096)
def stems(text: str) -> tuple[str, ...]:
    """The stems of a text's words, in order."""
    return tuple(stem(word) for word in _WORD.findall(text.casefold()))


@lru_cache(maxsize=8192)
def content(text: str) -> frozenset[str]:
    """The stems that carry meaning: all but the small words of English and of questions."""
    return frozenset(stem(word) for word in _WORD.findall(text.casefold()) if word not in SMALL_WORDS)


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """A light stemmer: plural and the commonest endings, so that "colours", "shipped" and "shipping" meet."""
    word = _SAME.get(word, word).removesuffix("'s")
    for ending, least in (("ies", 5), ("ing", 6), ("ed", 5), ("es", 5), ("s", 4)):
        if word.endswith(ending) and len(word) >= least:
            if ending == "ies":
                return word[:-3] + "y"
            if ending == "s" and word.endswith("ss"):
                return word
            if ending == "es" and word[-3] not in "sxzh":
                return word[:-1]
            core = word[: -len(ending)]
            return core[:-1] if ending in ("ing", "ed") and len(core) > 3 and core[-1] == core[-2] else core
    return word
