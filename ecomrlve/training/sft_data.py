"""Demonstrations for supervised fine-tuning: a teacher's successes, as the tokens that a model is to learn to write.

Only the model's own tokens are learned from, its turns with the token that ends each; everybody else's words are what
it answers. A chat that is longer than there is room for is left out, never cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ecomrlve.agents.base import Agent
from ecomrlve.agents.chat import Message
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.errors import EcomrlveError
from ecomrlve.splits import HELD
from ecomrlve.streams import Stream, key_of
from ecomrlve.training.demonstrations import played, refuse_held
from ecomrlve.training.demonstrations_chat import LeftOutError, demonstrate

if TYPE_CHECKING:
    from datasets import Dataset

NOT_LEARNED = -100  # what torch takes for "no label here"
SORTED_TOGETHER = 50  # batches whose chats are sorted by length, so that little is filled up
# Seeds of demonstrations begin above all that are held back for measuring.
FIRST_SEED = 1 + max(max(seeds) for seeds in HELD.values())
FEWEST_TRIES = 200

Row = dict[str, list[int]]


class SftError(EcomrlveError, RuntimeError):
    """Supervised fine-tuning that cannot begin."""


@dataclass(frozen=True, slots=True)
class Chat:
    """A demonstration as a chat.

    Attributes:
        messages: As `ecomrlve.agents.chat.Conversation` keeps them.
        tools: The tools that were offered.
    """

    messages: list[Message]
    tools: list[dict[str, Any]]


def teacher_chats(
    engine: SearchEngine,
    teacher: Agent,
    env_ids: Sequence[str],
    difficulties: Sequence[int],
    count: int,
    *,
    first_seed: int = FIRST_SEED,
) -> Iterator[Chat]:
    """Successes of a teacher, played on the spot; environments and difficulties take turns, and no seed comes twice.

    Args:
        engine: The engine with the catalog.
        teacher: Who plays.
        env_ids: The environments.
        difficulties: Which d.
        count: How many chats are wanted.
        first_seed: Seed of the first episode; the next one has the next.

    Raises:
        DemonstrationError: A seed is held back for measuring.
        SftError: The teacher succeeds in less than one of ten episodes.
    """
    cells = [(env_id, d) for env_id in env_ids for d in difficulties]
    given = tried = 0
    while given < count:
        env_id, d = cells[tried % len(cells)]
        seed = first_seed + tried
        refuse_held([seed])
        tried += 1
        for source in played(engine, teacher, [env_id], [d], [seed]):
            if isinstance(source, LeftOutError) or not source["reward"]["correct"]:
                continue
            found = demonstrate(source, engine)
            given += 1
            yield Chat(found.messages, found.tools)
        if tried >= FEWEST_TRIES and given < tried / 10:
            raise SftError(
                f"the teacher {teacher.name!r} succeeded in only {given} of {tried} episodes; choose another one, or "
                "easier problems"
            )


def beginning(row: Row) -> Row:
    """A row up to the end of the model's first turn.

    It costs a third of a whole chat, and what the customer's many ways to say a thing mean is mostly learned there.
    """
    mine = [label != NOT_LEARNED for label in row["labels"]]
    first = mine.index(True)
    end = mine.index(False, first) if False in mine[first:] else len(mine)
    return {name: values[:end] for name, values in row.items()}


def tokens_of(chats: Iterable[Chat], tokenizer: Any, most_tokens: int) -> Iterator[Row]:
    """The rows of a data set: ``input_ids`` and ``labels``, `NOT_LEARNED` where nothing is learned.

    Args:
        chats: What is shown.
        tokenizer: Its chat template must mark what the model writes, or be one of which TRL knows such a variant.
        most_tokens: Longer chats are left out.

    Raises:
        SftError: The template marks nothing, and TRL knows no variant that does.
    """
    template = _marking_template(tokenizer)
    for chat in chats:
        shown = tokenizer.apply_chat_template(
            chat.messages,
            tools=chat.tools or None,
            chat_template=template,
            return_dict=True,
            return_assistant_tokens_mask=True,
        )
        ids, own = shown["input_ids"], shown["assistant_masks"]
        if len(ids) <= most_tokens and any(own):
            labels = [token if mine else NOT_LEARNED for token, mine in zip(ids, own, strict=True)]
            yield {"input_ids": ids, "labels": labels}


def in_order(rows: Sequence[Row], wanted: int, batch: int, seed: int) -> list[int]:
    """Which rows are shown in which order: as often as needed, shuffled anew each time, similar lengths together.

    The order is fixed before training begins, so that a run that was killed goes on with the row that came next.

    Args:
        rows: The rows.
        wanted: How many are shown, repetitions counted.
        batch: How many are shown at a time.
        seed: Of the order.

    Returns:
        Row numbers, `wanted` of them.
    """
    order: list[int] = []
    times = 0
    while len(order) < wanted:
        stream = Stream("order of demonstrations", seed, times)
        numbers = stream.shuffled(range(len(rows)))
        batches: list[list[int]] = []
        for start in range(0, len(numbers), batch * SORTED_TOGETHER):
            group = sorted(
                numbers[start : start + batch * SORTED_TOGETHER], key=lambda row: len(rows[row]["input_ids"])
            )
            batches += [group[place : place + batch] for place in range(0, len(group), batch)]
        # A batch that is not full would move all that follow; its rows come another time.
        full = [one for one in batches if len(one) == batch] or [numbers]
        order += [row for one in stream.shuffled(full) for row in one]
        times += 1
    return order[:wanted]


def data_set(rows: Sequence[Row], order: Sequence[int]) -> Dataset:
    """The rows in this order, as the trainer takes them."""
    from datasets import Dataset

    whole = Dataset.from_dict({name: [row[name] for row in rows] for name in ("input_ids", "labels")})
    return whole.select(order)


def fingerprint(rows: Sequence[Row]) -> str:
    """What tells these rows from others: a run may only go on with the same."""
    return f"{key_of(*(token for row in rows for token in row['input_ids'][-64:])):016x}"


def _marking_template(tokenizer: Any) -> str:
    """A chat template that marks what the model writes."""
    from trl.chat_template_utils import get_training_chat_template, has_generation_markers

    if has_generation_markers(tokenizer.chat_template):
        return str(tokenizer.chat_template)
    try:
        return str(get_training_chat_template(tokenizer))
    except ValueError as error:
        raise SftError(
            "the chat template does not mark what the model writes, and TRL knows no variant of it that does; take a "
            "model whose template it knows, such as Qwen3"
        ) from error
