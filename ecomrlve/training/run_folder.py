"""A training run's folder: what the run is, its metrics, its curriculum, its checkpoints, its trajectories.

::

    run.json                       what was started, and with which settings
    metrics.jsonl                  a line per optimizer step
    curriculum.jsonl               a line per step and environment
    trajectories/traj-*.jsonl      some of the episodes
    checkpoints/STAGE/checkpoint-N/
    sft/, final/                   the models after supervised fine-tuning and at the end

Only one process of a run writes here. Lines are on the disk before the next step begins, and a killed run costs no more
than the line that was being written. A checkpoint counts only when it is marked complete, which is done last of all.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from ecomrlve.curriculum import LogEntry, read_log
from ecomrlve.curriculum.state import first_problem
from ecomrlve.errors import EcomrlveError, short
from ecomrlve.training.metrics import Metrics, Stage, read_metrics

RECORD, METRICS, CURRICULUM, TRAJECTORIES, COMPLETE = (
    "run.json", "metrics.jsonl", "curriculum.jsonl", "trajectories", "complete.json",
)  # fmt: skip
# What must be the same when a run goes on. What it is called and who started it may change.
_SAME = ("stage", "config", "catalog")
# Settings that say where things go and how much is kept, and change nothing of what is learned.
_FREE = ("keep_checkpoints", "log_to", "sample_every", "samples", "vllm_host", "vllm_port")
Line = TypeVar("Line")
_CHECKPOINT = re.compile(r"checkpoint-(\d+)")


class RunFolderError(EcomrlveError, ValueError):
    """A folder that cannot be a training run's, or not this one's."""


class RunRecord(BaseModel):
    """What a run is: ``run.json``.

    Attributes:
        kind: What tells a training run from other runs.
        version: Of this layout.
        name: What people call it.
        preset: The preset it was made from.
        stage: What it does: one stage, or all.
        config: Every setting.
        engine: This package's version.
        catalog: Name, fingerprint and kind of search, as `ecomrlve.trajectory.described` gives them.
        libraries: Versions of what it was trained with.
        command: The command that started it.
        started: When, as ISO text.
        processes: How many processes trained.
    """

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    kind: Literal["training"] = "training"
    version: Literal[1] = 1
    name: str
    preset: str
    stage: Literal["sft", "dapo", "all"]
    config: dict[str, JsonValue]
    engine: str
    catalog: dict[str, JsonValue]
    libraries: dict[str, str]
    command: str
    started: str
    processes: Annotated[int, Field(ge=1)]


def is_training_run(path: str | Path) -> bool:
    """Whether a folder says that it holds a training run, even if nothing else in it can be read."""
    try:
        data = json.loads((Path(path) / RECORD).read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(data, dict) and data.get("kind") == "training"


class RunFolder:
    """The folder of one training run. Nothing is read or written before it is asked for.

    Args:
        path: Where the run is, or shall be.

    Attributes:
        path: The folder.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)

    @property
    def record_file(self) -> Path:
        """What the run is."""
        return self.path / RECORD

    @property
    def metrics_file(self) -> Path:
        """A line per optimizer step."""
        return self.path / METRICS

    @property
    def curriculum_file(self) -> Path:
        """A line per step and environment."""
        return self.path / CURRICULUM

    @property
    def trajectories(self) -> Path:
        """The folder of sampled trajectories, for `TrajectoryStore`."""
        return self.path / TRAJECTORIES

    @property
    def start_model(self) -> Path:
        """The model that training began with, where it was made for the run."""
        return self.path / "start"

    @property
    def sft_model(self) -> Path:
        """The model after supervised fine-tuning."""
        return self.path / "sft"

    @property
    def final_model(self) -> Path:
        """The model at the end of the run."""
        return self.path / "final"

    @property
    def finished(self) -> bool:
        """Whether the run is through: its last model is there.

        Raises:
            RunFolderError: There is no run here.
        """
        last = self.sft_model if self.record().stage == "sft" else self.final_model
        return (last / "config.json").is_file()

    def checkpoint_folder(self, stage: Stage) -> Path:
        """The folder that a stage's checkpoints lie in: an output folder of transformers' trainer."""
        return self.path / "checkpoints" / stage

    # --- what the run is ---------------------------------------------------------------------------------------------

    def create(self, run: RunRecord, resume: bool = False) -> RunRecord:
        """Begin a run, or go on with the one that is here.

        Args:
            run: The run.
            resume: Go on if this run is here already. A folder without one begins it all the same, so that the command
                can be given again and again until the run is through.

        Returns:
            The run's record: the new one, or the one that was here, with its first command and start.

        Raises:
            RunFolderError: Another run or something else is in the folder, or the run in it has other settings.
        """
        try:
            if self.record_file.exists():
                return self._gone_on_with(run, resume)
            strange = sorted(path.name for path in self.path.iterdir()) if self.path.exists() else []
            if strange:
                raise RunFolderError(f"{self.path} holds {strange[0]!r} but no {RECORD}; name a new folder")
            self.path.mkdir(parents=True, exist_ok=True)
            _write_whole(self.record_file, run.model_dump_json(indent=1) + "\n")
        except OSError as error:
            raise RunFolderError(f"{self.path} cannot be a run's folder: {error.strerror or error}") from error
        return run

    def _gone_on_with(self, run: RunRecord, resume: bool) -> RunRecord:
        old = self.record()
        if not resume:
            raise RunFolderError(
                f"{self.path} holds the run {old.name!r}, started {old.started}; go on with it (resume), or name a new "
                f"folder"
            )
        for field in _SAME:
            found = _first_difference(_fixed(getattr(old, field)), _fixed(getattr(run, field)), field)
            if found:
                raise RunFolderError(
                    f"{self.path} cannot be resumed: {found}; give the settings it was started with, or name a new "
                    f"folder"
                )
        return old

    def record(self) -> RunRecord:
        """What the run is.

        Raises:
            RunFolderError: There is none here, or its record cannot be read.
        """
        try:
            return RunRecord.model_validate_json(self.record_file.read_bytes())
        except ValidationError as error:
            raise RunFolderError(f"{self.record_file} is no training run's record: {first_problem(error)}") from error
        except OSError as error:
            raise RunFolderError(f"{self.path} holds no run: {RECORD}: {error.strerror}") from error

    # --- lines -------------------------------------------------------------------------------------------------------

    def append_metrics(self, line: Metrics) -> None:
        """Write the line of a step.

        Raises:
            RunFolderError: It cannot be written.
        """
        _append(self.metrics_file, [line.to_json()])

    def append_curriculum(self, entries: Iterable[LogEntry]) -> None:
        """Write the lines of a step, one per environment.

        Raises:
            RunFolderError: They cannot be written.
        """
        _append(self.curriculum_file, [entry.model_dump_json() for entry in entries])

    def metrics(self) -> tuple[list[Metrics], list[str]]:
        """The lines by stage and step, the last one for a step, and one sentence for each that was skipped.

        Raises:
            RunFolderError: The file cannot be read. That it is not there is no problem: no step is through yet.
        """
        return _read(self.metrics_file, read_metrics)

    def curriculum(self) -> tuple[list[LogEntry], list[str]]:
        """The same for the curriculum's log, by environment and step.

        Raises:
            RunFolderError: The file cannot be read.
        """
        return _read(self.curriculum_file, read_log)

    # --- checkpoints -------------------------------------------------------------------------------------------------

    def mark_complete(self, folder: Path) -> None:
        """Say that a checkpoint is whole: all its files are on the disk, and nothing more will be written to it.

        Args:
            folder: ``checkpoints/STAGE/checkpoint-N``.

        Raises:
            RunFolderError: It is no checkpoint's folder, is empty, or cannot be written to.
        """
        match = _CHECKPOINT.fullmatch(folder.name)
        try:
            files = _files_in(folder)
            if not match or not files:
                raise RunFolderError(f"{folder} is no checkpoint: it must be called checkpoint-N and hold files")
            for name in files:
                _sync(folder / name)
            noted = {"step": int(match[1]), "files": files}
            _write_whole(folder / COMPLETE, json.dumps(noted, indent=1, sort_keys=True) + "\n")
        except OSError as error:
            raise RunFolderError(f"the checkpoint {folder} cannot be completed: {error.strerror}") from error

    def checkpoints(self, stage: Stage) -> list[Path]:
        """The complete checkpoints of a stage, the earliest first. Those of a killed save are left out."""
        found = {
            int(match[1]): path
            for path in self.checkpoint_folder(stage).glob("checkpoint-*")
            if (match := _CHECKPOINT.fullmatch(path.name)) and _is_complete(path)
        }
        return [found[step] for step in sorted(found)]

    def last_checkpoint(self, stage: Stage) -> Path | None:
        """The complete checkpoint to go on from; None if there is none."""
        return next(reversed(self.checkpoints(stage)), None)


def _files_in(folder: Path) -> dict[str, int]:
    """The files of a checkpoint and their sizes in bytes."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != COMPLETE)
    return {path.relative_to(folder).as_posix(): path.stat().st_size for path in paths}


def _is_complete(folder: Path) -> bool:
    """Whether a checkpoint was completed and is still whole: neither half deleted nor half copied."""
    try:
        noted = json.loads((folder / COMPLETE).read_bytes())["files"]
        return bool(noted) and all((folder / name).stat().st_size == size for name, size in noted.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _fixed(value: Any) -> Any:
    """A field of the record without the settings that may change."""
    return {name: one for name, one in value.items() if name not in _FREE} if isinstance(value, Mapping) else value


def _first_difference(old: Any, new: Any, place: str) -> str:
    """Where two JSON values first differ, in words, or an empty string."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        missing = object()
        for key in [*old, *(key for key in new if key not in old)]:
            one, other = old.get(key, missing), new.get(key, missing)
            if one is missing or other is missing:
                return f"{place}.{key} is {'new' if one is missing else 'missing now'}"
            found = _first_difference(one, other, f"{place}.{key}")
            if found:
                return found
        return ""
    if old == new and isinstance(old, bool) is isinstance(new, bool):
        return ""
    return f"{place} was {short(json.dumps(old, ensure_ascii=False))}, is {short(json.dumps(new, ensure_ascii=False))}"


def _append(path: Path, lines: list[str]) -> None:
    """Write lines and wait for the disk. A line that a killed process has torn is ended first."""
    if not lines:
        return
    try:
        with path.open("ab+") as file:
            torn = False
            if file.tell():
                file.seek(-1, os.SEEK_END)
                torn = file.read(1) != b"\n"
            file.write(("\n" * torn + "\n".join(lines) + "\n").encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise RunFolderError(f"cannot write to {path}: {error.strerror}") from error


def _read(path: Path, read: Callable[[Iterable[bytes]], tuple[list[Line], list[str]]]) -> tuple[list[Line], list[str]]:
    try:
        with path.open("rb") as lines:
            found, problems = read(lines)
    except FileNotFoundError:
        return [], []
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read: {error.strerror}") from error
    return found, [f"{path.name}, {problem}; skipped" for problem in problems]


def _write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all, and wait for the disk."""
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        unfinished.write_text(text, encoding="utf-8")
        _sync(unfinished)
        os.replace(unfinished, path)
        _sync(path.parent)
    finally:
        unfinished.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
