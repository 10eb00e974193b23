"""What an export of demonstrations holds: its counts, and the dataset card that tells them."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ecomrlve import __version__
from ecomrlve.errors import short
from ecomrlve.training.demonstrations_chat import Demonstration, Reason
from ecomrlve.training.demonstrations_files import DATA, SPLITS

# The Hub's own words for how large a dataset is: fewer rows than the number.
SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)
COLUMNS = {
    "messages": "the chat: `role`, `content`, and `tool_calls` (assistant), `tool_call_id` and `name` (tool); "
    "arguments are objects; every call has its result",
    "tools": "the tools that were offered, as OpenAI function schemas",
    "env_id": "the environment",
    "difficulty": "d, from 0 to 12",
    "seed": "the seed of the episode; it decides the split",
    "overrides": "axes that were set apart from d, as JSON",
    "agent": "who played, by the record",
    "total": "the reward, as re-executed, from -1 to 1",
    "correct": "whether the episode counts as a success, as re-executed",
    "turns": "turns that the agent took",
    "catalog": "the catalog's fingerprint",
    "episode_id": "the id of the record",
}


@dataclass(slots=True)
class EnvironmentTally:
    """Counts of one environment.

    Attributes:
        by_difficulty: d → rows.
        by_split: ``train`` or ``test`` → rows.
        by_agent: Who played → rows.
        correct: Rows that are a success.
        turns: Turns of all rows together.
        totals: Sum of the rewards.
        characters: Length of each chat.
    """

    by_difficulty: Counter[int] = field(default_factory=Counter)
    by_split: Counter[str] = field(default_factory=Counter)
    by_agent: Counter[str] = field(default_factory=Counter)
    correct: int = 0
    turns: int = 0
    totals: float = 0.0
    characters: list[int] = field(default_factory=list)

    def add(self, demonstration: Demonstration, split: str, agent: str) -> None:
        """Count one row."""
        self.by_difficulty[demonstration.difficulty] += 1
        self.by_split[split] += 1
        self.by_agent[agent] += 1
        self.correct += demonstration.correct
        self.turns += demonstration.turns
        self.totals += demonstration.total
        self.characters.append(demonstration.characters)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.characters)


@dataclass(slots=True)
class Tally:
    """Counts of a whole export.

    Attributes:
        environments: Environment → its counts.
        left_out: Reason → trajectories that became no row.
        examples: Reason → the first of them, in a sentence.
    """

    environments: dict[str, EnvironmentTally] = field(default_factory=dict)
    left_out: Counter[Reason] = field(default_factory=Counter)
    examples: dict[Reason, str] = field(default_factory=dict)

    def add(self, demonstration: Demonstration, split: str, agent: str) -> None:
        """Count one row."""
        self.environments.setdefault(demonstration.env_id, EnvironmentTally()).add(demonstration, split, agent)

    def leave_out(self, reason: Reason, example: str) -> None:
        """Count one trajectory that becomes no row."""
        self.left_out[reason] += 1
        self.examples.setdefault(reason, example)

    def in_cell(self, env_id: str, difficulty: int) -> int:
        """Rows of one environment and difficulty."""
        found = self.environments.get(env_id)
        return found.by_difficulty[difficulty] if found else 0

    @property
    def rows(self) -> dict[str, int]:
        """Split → rows; a split without any is not named."""
        counts = {split: sum(one.by_split[split] for one in self.environments.values()) for split in SPLITS}
        return {split: count for split, count in counts.items() if count}


@dataclass(frozen=True, slots=True)
class Origin:
    """How an export was made, for its card.

    Attributes:
        command: The command line.
        catalog: What `ecomrlve.trajectory.described` gives.
        rules: One sentence for each rule by which trajectories were chosen and split.
    """

    command: str
    catalog: Mapping[str, str]
    rules: Sequence[str]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large an export is.

    Attributes:
        tables: Split → bytes of its table in memory.
        files: Bytes of all files.
    """

    tables: Mapping[str, int]
    files: int


def card(tally: Tally, origin: Origin, sizes: Sizes) -> str:
    """The dataset card: YAML for the Hub, then text for people."""
    from huggingface_hub import DatasetCardData

    rows = tally.rows
    files = [{"split": split, "path": f"{DATA}/{split}-*"} for split in rows]
    front = DatasetCardData(
        language="en",
        license="mit",
        pretty_name="EcomRLVE demonstrations",
        task_categories=["text-generation"],
        tags=["ecomrlve", "e-commerce", "tool-calling", "agents", "conversational", "synthetic", "sft"],
        size_categories=size_category(sum(rows.values())),
        configs=[{"config_name": "default", "data_files": files}],
        # `datasets` takes a folder for the one that it has in its cache as long as these are the same.
        dataset_info={
            "splits": [
                {"name": split, "num_bytes": sizes.tables[split], "num_examples": count}
                for split, count in rows.items()
            ],
            "download_size": sizes.files,
            "dataset_size": sum(sizes.tables.values()),
        },
    )
    return f"---\n{front.to_yaml()}\n---\n\n{_body(tally, origin)}"


def size_category(rows: int) -> str:
    """How large a dataset is, in the Hub's words."""
    return next((name for least, name in SIZES if rows < least), "10M<n<100M")


def _body(tally: Tally, origin: Origin) -> str:
    rows = tally.rows
    split_counts = ", ".join(f"{count:,} {split}" for split, count in rows.items())
    longest = max(length for one in tally.environments.values() for length in one.characters)
    parts = [
        "# EcomRLVE demonstrations",
        "Conversations of a shopping agent with a simulated customer, from the environments of EcomRLVE: whole "
        "episodes as chats with tool calls, ready for supervised fine-tuning. The customers are programs.",
        f"**{sum(rows.values()):,} rows**: {split_counts}.",
        "## How it was made",
        f"```sh\n{origin.command}\n```",
        "\n".join(f"- {rule}" for rule in _made(tally, origin)),
        "## Columns",
        _table(("column", "what it is"), [(f"`{name}`", text) for name, text in COLUMNS.items()]),
        "## Counts",
        "Rows by environment and difficulty:",
        _by_difficulty(tally),
        "By environment, with the length of the chats in characters (without the tools; a token is 3 to 4 of them):",
        _by_environment(tally),
        "## Use",
        "```python\nfrom datasets import load_dataset\nfrom trl import SFTConfig, SFTTrainer\n\n"
        'data = load_dataset("FOLDER_OR_REPOSITORY")\n'
        "# TRL cuts chats at 1,024 tokens unless it is told not to, and the answer comes last.\n"
        "args = SFTConfig(assistant_only_loss=True, max_length=None)\n"
        'SFTTrainer(model="Qwen/Qwen3-0.6B", args=args, train_dataset=data["train"]).train()\n```',
        f"The longest chat has {longest:,} characters; `--max-characters` of the command leaves long ones out.",
    ]
    return "\n\n".join(parts) + "\n"


def _made(tally: Tally, origin: Origin) -> list[str]:
    agents: Counter[str] = Counter()
    for one in tally.environments.values():
        agents += one.by_agent
    catalog = origin.catalog
    left = ", ".join(f"{reason} ({count:,})" for reason, count in tally.left_out.most_common()) or "none"
    return [
        f"Engine: ecomrlve {__version__}. Catalog: {catalog['name']}, fingerprint `{catalog['fingerprint']}`, "
        f"search by {catalog['search']}.",
        "Played by: " + ", ".join(f"{_one_line(agent)} ({count:,})" for agent, count in agents.most_common()) + ".",
        "Every episode was executed again while it was exported, in the form it has here: what the agent reads is what "
        "the engine answered, and its reward is the one that was recorded.",
        *origin.rules,
        f"Left out: {left}.",
    ]


def _one_line(text: str) -> str:
    return short(" ".join(text.split()) or "nobody named")


def _by_difficulty(tally: Tally) -> str:
    levels = sorted({d for one in tally.environments.values() for d in one.by_difficulty})
    rows: list[tuple[object, ...]] = [
        (env_id, *(one.by_difficulty[d] for d in levels), one.rows) for env_id, one in _sorted(tally)
    ]
    sums = [sum(one.by_difficulty[d] for _, one in _sorted(tally)) for d in levels]
    rows.append(("all", *sums, sum(sums)))
    return _table(("environment", *(f"d={d}" for d in levels), "all"), rows)


def _by_environment(tally: Tally) -> str:
    return _table(
        (
            "environment",
            *SPLITS,
            "correct",
            "mean total",
            "mean turns",
            "median length",
            "95th percentile",
            "longest",
        ),
        [
            (
                env_id,
                *(one.by_split[split] for split in SPLITS),
                f"{one.correct / one.rows:.1%}",
                f"{one.totals / one.rows:.3f}",
                f"{one.turns / one.rows:.2f}",
                f"{statistics.median(one.characters):,.0f}",
                f"{_percentile(one.characters, 95):,.0f}",
                f"{max(one.characters):,}",
            )
            for env_id, one in _sorted(tally)
        ],
    )


def _sorted(tally: Tally) -> list[tuple[str, EnvironmentTally]]:
    return sorted(tally.environments.items())


def _percentile(lengths: Sequence[int], percent: int) -> float:
    import numpy as np

    return float(np.percentile(lengths, percent))


def _table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
