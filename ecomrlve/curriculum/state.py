"""What a schedule of difficulties remembers, in the form in which it is saved, and what none can be like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ecomrlve.collections import resolve
from ecomrlve.difficulty import HIGHEST, LOWEST
from ecomrlve.errors import EcomrlveError, short

Level = Annotated[int, Field(ge=LOWEST, le=HIGHEST)]
Count = Annotated[int, Field(ge=0)]
S = TypeVar("S", bound="State")


class CurriculumError(EcomrlveError, ValueError):
    """Settings, a result, a saved state or a log line that no curriculum can have."""


class Window(NamedTuple):
    """The difficulties that are drawn from, both included."""

    low: int
    high: int


class Tally(BaseModel):
    """One environment's window, and what is counted at its upper end: in the batch under way, and before it."""

    model_config = ConfigDict(strict=True, extra="forbid")

    low: Level
    high: Level
    episodes: Count = 0
    successes: Count = 0
    batch_episodes: Count = 0
    batch_successes: Count = 0

    @model_validator(mode="after")
    def _possible(self) -> Tally:
        if self.low > self.high:
            raise ValueError(f"low {self.low} is above high {self.high}")
        if self.successes > self.episodes or self.batch_successes > self.batch_episodes:
            raise ValueError("there are more successes than episodes")
        return self


class State(BaseModel):
    """What the states of all schedules have."""

    model_config = ConfigDict(strict=True, extra="forbid")

    version: Literal[1] = 1
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    environments: Annotated[dict[str, Tally], Field(min_length=1)]


class AdaptiveState(State):
    """The state of a `Curriculum`."""

    kind: Literal["adaptive"] = "adaptive"
    min_episodes: Annotated[int, Field(ge=1)]
    threshold: Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
    width: Annotated[int, Field(ge=0, le=HIGHEST - LOWEST)]

    @model_validator(mode="after")
    def _reachable(self) -> AdaptiveState:
        for env_id, tally in self.environments.items():
            if tally.high - tally.low > self.width:
                raise ValueError(f"the window of {env_id} is wider than {self.width}")
            if tally.episodes >= self.min_episodes:
                raise ValueError(f"{env_id} has {tally.episodes} episodes on record, which would have been decided")
        return self


class StaticState(State):
    """The state of a `StaticCurriculum`."""

    kind: Literal["static"] = "static"


def new_state(model: type[S], env_ids: str | Sequence[str], window: Window, settings: dict[str, Any]) -> S:
    """The state of a schedule that has seen nothing yet.

    Args:
        model: Which kind of state.
        env_ids: Environments or collections.
        window: The window of all of them.
        settings: The other fields of the state.

    Raises:
        CurriculumError, UnknownEnvironmentError: A setting is out of range, or there is no such environment.
    """
    low, high = window
    environments = {env_id: {"low": low, "high": high} for env_id in resolve(env_ids)}
    try:
        return model.model_validate({**settings, "environments": environments})
    except ValidationError as error:
        raise CurriculumError(f"no curriculum can be like that: {first_problem(error)}") from error


def first_problem(error: ValidationError) -> str:
    """Where the first thing is wrong, and what."""
    problem = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(map(str, problem["loc"]))
    text = problem["msg"].removeprefix("Value error, ")
    return short(f"{place}: {text}" if place else text, 160)
