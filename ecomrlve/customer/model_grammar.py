"""Lets a language model choose the customer's words. What is said stays the ledger's; only how it is said changes.

The grammar's own draft is made first. A model is asked to put it in other words, and its answer counts only if
`model_check` finds that it says the same; otherwise the draft is said, to the byte as if there were no model.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ecomrlve.catalog.columns import Catalog
from ecomrlve.customer.grammar import Grammar
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.model import Completions, EndpointModel, LocalModel, ModelError
from ecomrlve.customer.model_check import objections
from ecomrlve.customer.model_prompt import again, messages, names_in
from ecomrlve.customer.model_text import plain
from ecomrlve.errors import TrajectoryError
from ecomrlve.streams import Stream

FAILURES_BEFORE_PAUSE = 3  # utterances in a row
PAUSE = 20  # utterances
LONGEST_WAIT = 5.0  # seconds
_BUSY = (429, 503)
_SEEDS = 2**31


class PhraseCache:
    """What a model said to which request, so that an episode can be had again without it. Threads may share it.

    Args:
        path: A file of JSON lines to read and to append to; it may be missing. Several writers may share it.
        entries: Key → text, as `entries` gives it; an empty text stands for the grammar's.
        model: Name of the model that said it; empty for the one that the file names last.

    Attributes:
        model: That name. It is part of the keys, so that who replays needs no model, but its name.
    """

    def __init__(self, path: Path | None = None, entries: Mapping[str, str] | None = None, *, model: str = ""):
        self.model = model
        self._path = path
        self._entries = dict(entries or {})
        self._lock = threading.Lock()
        if path is not None and path.exists():
            self._read(path)

    def _read(self, path: Path) -> None:
        last = ""
        for line in path.read_bytes().split(b"\n"):
            try:
                entry = json.loads(line)
                key, text, name = entry["key"], entry["text"], entry["model"]
            except (ValueError, KeyError, TypeError):
                continue  # a line that a writer did not finish
            if isinstance(key, str) and isinstance(text, str) and isinstance(name, str):
                self._entries.setdefault(key, text)
                last = name
        self.model = self.model or last

    @property
    def entries(self) -> dict[str, str]:
        """A copy of all entries: what a record of an episode keeps, and `PhraseCache` takes."""
        with self._lock:
            return dict(self._entries)

    def get(self, key: str) -> str | None:
        """The text of a key; None where there is none."""
        with self._lock:
            return self._entries.get(key)

    def keep(self, key: str, text: str, model: str) -> str:
        """Add an entry. Where another thread was quicker, its text stays, and is returned."""
        with self._lock:
            if key in self._entries:
                return self._entries[key]
            self._entries[key] = text
            self.model = model
            if self._path is not None:
                line = json.dumps({"key": key, "model": model, "text": text})
                try:
                    self._append(self._path, line.encode())
                except OSError as error:
                    # The episode goes on: a full disk is no reason to lose it.
                    warnings.warn(f"{self._path} cannot be written, so phrases are not kept: {error}", stacklevel=2)
                    self._path = None
            return text

    @staticmethod
    def _append(path: Path, line: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b", buffering=0) as file:
            end = file.seek(0, os.SEEK_END)
            if end:
                file.seek(end - 1)
                # A line that was not finished is ended, so that only that one is lost.
                line = line if file.read(1) == b"\n" else b"\n" + line
            # One write in append mode: lines of several writers do not mingle.
            file.write(line + b"\n")


@dataclass(slots=True)
class PhraseCounts:
    """Where the customer's words came from. `utterances` is the sum of the next three.

    Attributes:
        utterances: All of them.
        by_model: Said in a model's words, just made.
        from_cache: Said in a model's words, out of the cache.
        fell_back: Said in the grammar's words.
        reasons: Why the grammar's words were taken → how often.
    """

    utterances: int = 0
    by_model: int = 0
    from_cache: int = 0
    fell_back: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def fall_back_rate(self) -> float:
        """The share of utterances in the grammar's words; 0 before the first."""
        return self.fell_back / self.utterances if self.utterances else 0.0


class Phrase(NamedTuple):
    """One act in words: the text, the key of the request, and the model's text, empty where it is the grammar's."""

    text: str
    key: str
    by_model: str


class ModelGrammar(Grammar):
    """A grammar whose words a language model chooses. Threads may share it.

    Args:
        model: The model; None to say only what the cache holds, and the grammar's words where it holds nothing.
        cache: What was said before; None for a cache of its own, in memory.
        retries: How often a model that failed, or whose words cannot be used, is asked once more.
        grammar: Makes the drafts; None for the built-in one.
        sleep: Waits, given seconds, before a busy server is asked again.
        vocabulary: Lower-case words that values of attributes consist of, such as colors, brands and materials: a
            message that holds one which its draft does not is not used.

    Attributes:
        cache: The cache.
        counts: Where the words came from so far.
    """

    def __init__(
        self,
        model: Completions | None,
        *,
        cache: PhraseCache | None = None,
        retries: int = 2,
        grammar: Grammar | None = None,
        sleep: Callable[[float], None] = time.sleep,
        vocabulary: frozenset[str] = frozenset(),
    ):
        self.cache = PhraseCache() if cache is None else cache
        self.counts = PhraseCounts()
        self._model = model
        self._retries = retries
        self._grammar = grammar or Grammar()
        self._sleep = sleep
        self._vocabulary = vocabulary
        self._lock = threading.Lock()
        self._failures = 0  # utterances in a row
        self._pause = 0  # utterances left

    def say(
        self,
        act: str,
        env_id: str,
        slots: Sequence[Slot],
        stream: Stream,
        *,
        context: Mapping[str, Any] | None = None,
        withheld: Sequence[Slot] = (),
    ) -> str:
        """Phrase one act; see `Grammar.say`. Nothing that a model does raises an exception.

        Args:
            act: One of `grammar.ACTS`.
            env_id: The environment.
            slots: Exactly the slots that the text must carry.
            stream: Where the draft's words and the model's seed come from.
            context: What the act is about, as far as it is no slot.
            withheld: Slots that the customer has not said yet, and does not say now.

        Raises:
            ValueError: The act is unknown.
        """
        return self.phrase(act, env_id, slots, stream, context, withheld).text

    def phrase(
        self,
        act: str,
        env_id: str,
        slots: Sequence[Slot],
        stream: Stream,
        context: Mapping[str, Any] | None,
        withheld: Sequence[Slot],
    ) -> Phrase:
        """As `say`, with what a record must keep so that the episode can be had again without the model."""
        draft = self._grammar.say(act, env_id, slots, stream, context=context)
        seed = stream.integer(_SEEDS)
        names = [name for name in names_in(context or {}) if name.lower() in draft.lower()]
        request = messages(act, slots, context or {}, names, draft)
        name = self.model_name
        key = _key(name, request, seed)

        def check(text: str) -> list[str]:
            return objections(text, slots, withheld, draft, vocabulary=self._vocabulary, names=names)

        kept = self.cache.get(key)
        if kept is not None:
            # A cache is a file that anybody may have written: what it says must be as true as what a model says.
            reason = "fell back before" if not kept else "cached words objected to" if check(kept) else ""
        elif self._model is None:
            kept, reason = "", "not in the cache"
        else:
            text, reason = self._asked(self._model, request, seed, check)
            kept = self.cache.keep(key, text, name)
            if kept != text:
                # Another thread said the same at the same time; both say what the cache holds.
                reason = "" if kept else "fell back before"
            self._count(reason, fresh=True)
            return Phrase(kept or draft, key, kept)
        self._count(reason, fresh=False)
        kept = "" if reason else kept
        return Phrase(kept or draft, key, kept)

    def recorded(self) -> RecordedGrammar:
        """The same grammar for one episode, which remembers what was said in it."""
        return RecordedGrammar(self)

    @property
    def model_name(self) -> str:
        """Name of the model that the words are by."""
        return self.cache.model if self._model is None else self._model.name

    def _count(self, reason: str, *, fresh: bool) -> None:
        with self._lock:
            self.counts.utterances += 1
            if reason:
                self.counts.fell_back += 1
                self.counts.reasons[reason] += 1
            elif fresh:
                self.counts.by_model += 1
            else:
                self.counts.from_cache += 1

    def _asked(
        self, model: Completions, request: list[dict[str, str]], seed: int, check: Callable[[str], list[str]]
    ) -> tuple[str, str]:
        """A model's words, and why there are none."""
        if self._resting():
            return "", "model unavailable"
        reason, answered, told = "", False, request
        for attempt in range(self._retries + 1):
            try:
                answer = model.complete(told, (seed + attempt) % _SEEDS)
                text = plain(answer)
                wrong = check(text)
            except Exception as error:  # a model is foreign code: nothing it does may end an episode
                reason = error.reason if isinstance(error, ModelError) else "model failed"
                if isinstance(error, ModelError) and attempt < self._retries:
                    self._wait(error, attempt)
                continue
            answered = True
            if not wrong:
                self._rest_after(failed=False)
                return text, ""
            reason, told = "words objected to", again(request, answer, wrong)
        self._rest_after(failed=not answered)
        return "", reason

    def _wait(self, error: ModelError, attempt: int) -> None:
        """Give a busy server the time that it asks for."""
        if error.status in _BUSY:
            asked = float(attempt + 1) if error.retry_after is None else error.retry_after
            self._sleep(min(asked, LONGEST_WAIT))

    def _resting(self) -> bool:
        """Whether the model failed so often that it is left alone for now."""
        with self._lock:
            if self._pause:
                self._pause -= 1
                return True
            return False

    def _rest_after(self, *, failed: bool) -> None:
        with self._lock:
            self._failures = self._failures + 1 if failed else 0
            if self._failures >= FAILURES_BEFORE_PAUSE:
                # The count stays: should the next try fail, too, the model is left alone again at once.
                self._pause = PAUSE


class RecordedGrammar(Grammar):
    """A `ModelGrammar` for one episode.

    Args:
        grammar: The one that is shared.

    Attributes:
        said: Key → the model's text, empty for the grammar's: what `PhraseCache` needs to say the same again.
        model_name: Name of the model.
    """

    def __init__(self, grammar: ModelGrammar):
        self._shared = grammar
        self.model_name = grammar.model_name
        self.said: dict[str, str] = {}

    def say(
        self,
        act: str,
        env_id: str,
        slots: Sequence[Slot],
        stream: Stream,
        *,
        context: Mapping[str, Any] | None = None,
        withheld: Sequence[Slot] = (),
    ) -> str:
        """See `ModelGrammar.say`."""
        phrase = self._shared.phrase(act, env_id, slots, stream, context, withheld)
        self.said[phrase.key] = phrase.by_model
        return phrase.text

    def to_dict(self) -> dict[str, Any]:
        """What a record of the episode keeps: ``{"model": name, "said": {key: text}}``."""
        return {"model": self.model_name, "said": dict(self.said)}


def grammar_of(record: Any, catalog: Catalog) -> ModelGrammar | None:
    """The words that a record of an episode kept, as a grammar that needs no model; None where a grammar spoke.

    Args:
        record: What `RecordedGrammar.to_dict` made, or None.
        catalog: The catalog that it was recorded on.

    Raises:
        TrajectoryError: It is something else.
    """
    if record is None:
        return None
    said = record.get("said") if isinstance(record, Mapping) else None
    if not isinstance(said, Mapping) or not all(isinstance(text, str) for pair in said.items() for text in pair):
        raise TrajectoryError("its phrasing is not a model's name with what it said")
    cache = PhraseCache(entries=said, model=str(record.get("model", "")))
    return ModelGrammar(None, cache=cache, vocabulary=vocabulary_of(catalog))


def grammar_by(name: str, url: str, cache: Path | None, catalog: Catalog) -> ModelGrammar:
    """A grammar whose words a model chooses, as commands and the page name it.

    Args:
        name: The model's name on the server, or a Hub id or folder.
        url: The server; empty for a checkpoint on this machine. Its key is read from ECOMRLVE_CUSTOMER_KEY.
        cache: A file of what was said, read and added to; None to keep it in memory.
        catalog: The catalog that is spoken of.
    """
    key = os.environ.get("ECOMRLVE_CUSTOMER_KEY")
    model: Completions = EndpointModel(name, base_url=url, api_key=key) if url else LocalModel(name)
    return ModelGrammar(model, cache=PhraseCache(cache), vocabulary=vocabulary_of(catalog))


_VALUE_ATTRIBUTES = re.compile(r"^(?:brand|colou?r|material|.*_(?:material|colou?r))$")


def vocabulary_of(catalog: Catalog) -> frozenset[str]:
    """Words of colors, materials and brands, which a model must not add to what the customer says."""
    words: set[str] = set()
    for name, column in catalog.columns.items():
        if not column.numeric and _VALUE_ATTRIBUTES.match(name):
            for value in column.names:
                words.update(word for word in re.findall(r"[^\W\d_]+", value.lower()) if len(word) > 2)
    return frozenset(words)


def _key(model: str, request: list[dict[str, str]], seed: int) -> str:
    text = json.dumps([model, request, seed])
    return hashlib.sha256(text.encode()).hexdigest()[:32]
