"""Make the word vectors by which the customer understands questions: a static student of a sentence encoder.

    python scripts/distil_words.py     # about 6 minutes on 2 cores; writes ecomrlve/customer/asking/words.npz

The teacher is the catalog's sentence encoder (all-MiniLM-L6-v2). A text's vector by the student is the sum of its
tokens' vectors, which costs microseconds instead of the teacher's tens of milliseconds. The student starts from what
the teacher says of each token alone and learns what it says of short texts: the library of phrasings, cuts from it, and
the messages of the development and training questions. Nothing it learns from is labelled, and none is of the test set.
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import torch
from calibrate_understanding import FITTED, cases_of
from sentence_transformers import SentenceTransformer

from ecomrlve.catalog.encoder import wheel_folder
from ecomrlve.customer.asking.library import phrasings
from ecomrlve.customer.asking.vectors import DIMENSIONS, tokenizer
from ecomrlve.customer.sentences import sentences

OUT = Path(__file__).resolve().parents[1] / "ecomrlve/customer/asking/words.npz"
EPOCHS, BATCH, TEMPERATURE, DROPPED = 6, 256, 0.05, 0.1
CUTS, PAIRS = 2, 8  # per phrasing, and per topic


def texts_to_learn() -> list[str]:
    """The library, cuts and pairs of its phrasings, and the questions' sentences, pieces and cuts."""
    draw = random.Random(0)
    library = [text for many in phrasings().values() for text in many]
    texts = set(library)
    for text in library:
        texts.update(_cut(text, draw) for _ in range(CUTS))
    for many in phrasings().values():
        for _ in range(PAIRS):
            texts.add(f"{draw.choice(many)}{draw.choice([' and ', ' or ', ', ', ' '])}{draw.choice(library)}")
            texts.add(" ".join(draw.sample(many, 2)))
    for name in FITTED:
        for case in cases_of(name):
            for sentence in sentences(case["say"]):
                texts.update((sentence.heard.strip(" ?.!"), *sentence.pieces))
                texts.update(_cut(sentence.heard, draw) for _ in range(3))
    return sorted(text for text in texts if text)


def _cut(text: str, draw: random.Random) -> str:
    words = text.split()
    if len(words) < 4:
        return text
    start = draw.randrange(len(words) - 1)
    return " ".join(words[start : start + draw.randrange(2, 8)])


def main() -> None:
    """Distil and write the table."""
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    teacher = SentenceTransformer(str(wheel_folder()), device="cpu")
    split = tokenizer()
    vocabulary = sorted(split.get_vocab().items(), key=lambda pair: pair[1])
    plain = [(text.removeprefix("##"), number) for text, number in vocabulary]
    known = [(text, number) for text, number in plain if text.isascii() and text.isalnum()]
    alone = np.zeros((len(vocabulary), 384), dtype=np.float32)
    words = [text for text, _ in known]
    alone[[number for _, number in known]] = teacher.encode(words, batch_size=256, normalize_embeddings=True)
    texts = texts_to_learn()
    print(f"{len(texts)} texts, {len(known)} tokens")
    wanted = torch.tensor(teacher.encode(texts, batch_size=256, normalize_embeddings=True, show_progress_bar=False))
    rows = [split.encode(text, add_special_tokens=False).ids or [0] for text in texts]
    student = _learn(alone, rows, wanted)
    # The directions that the texts differ in most, as whole numbers of eight bits.
    vectors = np.array([student[row].sum(axis=0) for row in rows])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    table = student @ directions[:, ::-1][:, :DIMENSIONS]
    # Few entries are large: those beyond the scale are cut, so that the others keep more of their bits.
    scale = 127 / np.quantile(np.abs(table[table.any(axis=1)]), 0.9995)
    np.savez_compressed(OUT, table=np.clip(np.rint(table * scale), -127, 127).astype(np.int8))
    print(f"{OUT.name}: {OUT.stat().st_size / 1e6:.1f} MB")


def _learn(alone: np.ndarray, rows: list[list[int]], wanted: torch.Tensor) -> np.ndarray:
    """The student's token vectors: shape (tokens, 384)."""
    seen = np.bincount([token for row in rows for token in set(row)], minlength=len(alone))
    rare = 0.02 * len(rows) / (0.02 * len(rows) + seen)  # Arora et al. 2017
    bag = torch.nn.EmbeddingBag.from_pretrained(torch.tensor(alone), freeze=False, mode="sum")
    weight = torch.nn.Parameter(torch.tensor(np.log(rare), dtype=torch.float32))
    turn = torch.nn.Linear(384, 384, bias=False)
    torch.nn.init.eye_(turn.weight)
    groups = [(bag.parameters(), 1e-3), ([weight], 5e-3), (turn.parameters(), 3e-4)]
    optimizer = torch.optim.Adam([{"params": parameters, "lr": rate} for parameters, rate in groups])
    for epoch in range(EPOCHS):
        for batch in np.array_split(np.random.permutation(len(rows)), len(rows) // BATCH):
            kept = [[token for token in rows[row] if np.random.rand() > DROPPED] or rows[row] for row in batch]
            flat = torch.tensor([token for row in kept for token in row])
            starts = torch.tensor(np.cumsum([0, *map(len, kept[:-1])]))
            said = turn(bag(flat, starts, per_sample_weights=weight.exp()[flat]))
            said, right = torch.nn.functional.normalize(said, dim=1), wanted[batch]
            # Near to the teacher's vector, and nearer to it than to those of other texts.
            far = torch.nn.functional.cross_entropy(said @ right.T / TEMPERATURE, torch.arange(len(batch)))
            loss = (1 - (said * right).sum(dim=1)).mean() + 0.3 * far
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}")
    with torch.no_grad():
        return (turn(bag.weight) * weight.exp()[:, None]).numpy()


if __name__ == "__main__":
    main()
