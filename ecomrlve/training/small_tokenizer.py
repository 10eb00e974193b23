"""A tokenizer for models so small that copying must be easy: a word is the same token wherever it stands.

Text is runs of letters, digits and underscores ("words") and runs of anything else ("marks"), each looked up as a whole
first. A single space between two words is no token at all, but understood; every other space is part of its mark. So
``lamp`` is one token in prose, in a list and after a quote, and JSON's ``": "`` is one, too. An id such as ``p7k2m9qd``
is four tokens of two characters, cut at the same places everywhere. What is not in the vocabulary is spelt out by
bytes, so nothing gets lost.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from ecomrlve.catalog.aliases import ALPHABET

WORD = "0-9A-Za-z_"
# Stands in front of what goes on with a run. No byte is written with it.
GOES_ON = "∙"
# How the byte-level alphabet writes a space.
SPACE = "Ġ"
SPACE_BETWEEN = f"(?<=[{WORD}]){SPACE}(?=[{WORD}])"
LONGEST_MARK = 64
LONGEST_WORD = 1000  # a longer one is unknown: spelling it out would take too long
ID_LETTERS = "pvolr"  # products, variants, orders, lines, returns

PAD, UNKNOWN, END = "<|pad|>", "<|unknown|>", "<|end|>"
SPECIAL = (PAD, UNKNOWN, END, "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>")
CALLS = ("<tool_call>", "</tool_call>")

_ID = re.compile(rf"[{ID_LETTERS}][{ALPHABET}]{{7}}")
_CONTROLS = re.compile("|".join(map(re.escape, (*SPECIAL, *CALLS))))


def pieces_of_ids() -> Iterator[str]:
    """The pieces that ids are made of, and no more: the letter with one character, and then pairs of characters."""
    yield from (letter + other for letter in ID_LETTERS for other in ALPHABET)
    yield from (GOES_ON + one + other for one in ALPHABET for other in ALPHABET)


def make_tokenizer(texts: Iterable[str], *, vocabulary: int, least: int = 2) -> Any:
    """A tokenizer with the most frequent runs of some texts.

    Args:
        texts: What it shall be good at, control tokens included.
        vocabulary: Most tokens.
        least: How often a run must occur to be worth a token.

    Returns:
        A `tokenizers.Tokenizer`, with `SPECIAL` and `CALLS` as added tokens.

    Raises:
        ValueError: There is no room for bytes and ids.
    """
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = dict.fromkeys([*SPECIAL, *CALLS, *letters, *(GOES_ON + letter for letter in letters), *pieces_of_ids()])
    if vocabulary < len(tokens):
        raise ValueError(f"a vocabulary of {vocabulary} tokens has no room for bytes and ids, which are {len(tokens)}")
    normalizer = normalizers.ByteLevel()
    splits = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPACE_BETWEEN), "removed"),
            pre_tokenizers.Split(Regex(f"[{WORD}]+"), "isolated"),
            pre_tokenizers.Split(Regex(f"[^{WORD}]{{1,{LONGEST_MARK}}}"), "isolated"),
        ]
    )
    counts: Counter[str] = Counter()
    for text in texts:
        for part in _CONTROLS.split(text):
            counts.update(run for run, _ in splits.pre_tokenize_str(normalizer.normalize_str(part)))
    frequent = (run for run, count in counts.most_common() if count >= least and not _ID.fullmatch(run))
    for run in frequent:
        if len(tokens) == vocabulary:
            break
        tokens[run] = None
    model = models.WordPiece(
        {token: number for number, token in enumerate(tokens)},
        unk_token=UNKNOWN,
        continuing_subword_prefix=GOES_ON,
        max_input_chars_per_word=LONGEST_WORD,
    )
    made = Tokenizer(model)
    made.normalizer, made.pre_tokenizer = normalizer, splits
    made.decoder = decoders.Sequence(
        [
            # Puts a space in front of whatever begins a run; then a space that stands between words is one of the
            # text, and every other is none, since the text's own are written otherwise.
            decoders.WordPiece(prefix=GOES_ON, cleanup=False),
            decoders.Fuse(),
            decoders.Replace(Regex(f"(?<=[{WORD}]) (?=[{WORD}])"), SPACE),
            decoders.Replace(" ", ""),
            decoders.ByteLevel(),
        ]
    )
    made.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    made.add_tokens([AddedToken(token, special=False, normalized=False) for token in CALLS])
    return made
