"""The agents that visitors may let play here, and one seated at an episode.

A visitor must not be able to make the server load any checkpoint or call any address, so that checkpoints and endpoints
are offered only where whoever runs the Space names them in ``ECOMRLVE_AGENTS`` (separated by blanks or line breaks).
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from components.episode import Episode
from components.session import SessionError
from ecomrlve.agents.base import Players
from ecomrlve.agents.learned import is_here
from ecomrlve.agents.registry import players_of
from ecomrlve.errors import EcomrlveError, short
from ecomrlve.protocol import Observation

BUILT_IN = {
    "reference": "Reference agent (knows what was said as values)",
    "scripted": "Scripted agent (keywords and numbers)",
    "random": "Random agent (presses buttons blindly)",
}
# A model, so that it has threads of its own like others that are no programs.
LEARNED = {"learned": "Learned model (small, trained on a CPU; knows carts only)"}
# The built-in agents think for milliseconds, so that a few threads do for all visitors.
BUILT_IN_THREADS = 4
LEAST_THREADS, MOST_THREADS = 2, 8
LONGEST_PROBLEM = 300
_players: dict[str, Players] = {}
_pools: dict[str, ThreadPoolExecutor] = {}
_pools_lock, _players_lock = threading.Lock(), threading.Lock()
_log = logging.getLogger(__name__)


class AgentTroubleError(SessionError):
    """An agent that cannot play, or cannot go on; the message is for the visitor."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An agent that may be chosen.

    Attributes:
        name: What it is called everywhere.
        label: The same for people, with a few words about it.
    """

    name: str
    label: str

    @property
    def title(self) -> str:
        """The label without the words about it."""
        return self.label.partition(" (")[0]


def choices() -> list[Choice]:
    """Who may be chosen, in the order of the menu."""
    always = BUILT_IN | (LEARNED if is_here() else {})
    named = os.environ.get("ECOMRLVE_AGENTS", "").split()
    more = {name: name for name in named if name not in always}
    return [Choice(name, label) for name, label in (always | more).items()]


def title_of(name: str) -> str:
    """What people call an agent; one that is not offered here goes by its name."""
    return next((choice.title for choice in choices() if choice.name == name), name)


def check_name(name: Any) -> str:
    """The name, if it may be chosen.

    Raises:
        SessionError: It may not.
    """
    known = [choice.name for choice in choices()]
    if not isinstance(name, str) or name not in known:
        raise SessionError(f"There is no agent of that name here; choose one of {', '.join(known)}.")
    return name


def pool(name: str, *, sitting: bool = False) -> ThreadPoolExecutor:
    """The threads in which an agent plays.

    An agent that is not built in may wait for a model for minutes. It has threads of its own, so that it keeps nobody
    waiting but those who watch it too.

    Args:
        name: One of `choices`.
        sitting: For taking a seat, which others who watch it need not wait for while it thinks.

    Raises:
        SessionError: There is no such agent here, or it cannot play.
    """
    name = check_name(name)
    shared = name in BUILT_IN
    width = BUILT_IN_THREADS if shared else min(MOST_THREADS, max(LEAST_THREADS, _players_named(name).width))
    key = ("built-in" if shared else name) + (" sits down" if sitting else " thinks")
    with _pools_lock:
        if key not in _pools:
            _pools[key] = ThreadPoolExecutor(width, thread_name_prefix=f"agent: {key}")
        return _pools[key]


def _players_named(name: str) -> Players:
    """What hands out the agents of a name, shared by all visitors."""
    if name in _players:  # without waiting for another one, whose libraries may take long to load
        return _players[name]
    with _players_lock:
        if name not in _players:
            try:
                _players[name] = players_of(name)
            except Exception as error:  # such as a library that is not installed
                raise _trouble(name, error) from error
        return _players[name]


def _trouble(name: str, error: BaseException) -> AgentTroubleError:
    """What a visitor is told of an agent's error.

    Only errors of the engine are written for people. What another one says may name folders or keys, so that it goes to
    the log of the server alone.
    """
    if isinstance(error, EcomrlveError):
        return AgentTroubleError(short(str(error), LONGEST_PROBLEM))
    _log.error("the agent %s failed", name, exc_info=error)
    return AgentTroubleError(f"The agent failed with a {type(error).__name__}.")


class Seat:
    """An agent that plays one episode, a turn at a time.

    An agent that comes in the middle of an episode is first shown what has happened so far. One that offers
    ``follow(observation, action)`` is told each turn that was taken. Another one sees its own turns again by acting
    anew, which brings it to where it was; what others did it finds in its next observation, which brings everything
    that was said and shown since its last one. (An agent that acts in vain in the turns of others believes that it has
    asked and searched already, and waits for what never comes.)

    Args:
        name: The agent's name; it must be one of `choices`.
        episode: The episode at its beginning.
        past: The turns that were taken already, which are played again here: who took each, and the action.

    Raises:
        SessionError: There is no such agent here, or it cannot play.
    """

    def __init__(self, name: str, episode: Episode, past: Sequence[tuple[str, Any]] = ()):
        self.name = check_name(name)
        self.episode = episode
        self._chosen: list[Any] = []  # the next action, if it is known
        self._unseen: list[Observation] = []
        players = _players_named(name)
        self._slow = players.threads or players.model
        self._agent = self._safely(players.player)
        self._safely(self._agent.reset, episode.environment)
        for player, action in past:
            if episode.running:
                self._witness(player, action)
                episode.step(action, player)

    def _safely(self, method: Callable[..., Any], *arguments: Any) -> Any:
        """Call a method of the agent, which may be anybody's: whatever it does, those who watch must learn of it."""
        try:
            return method(*arguments)
        except (Exception, SystemExit) as error:
            raise _trouble(self.name, error) from error

    def _witness(self, player: str, action: Any) -> None:
        """Show the agent a turn of the past."""
        follow = getattr(self._agent, "follow", None)
        if callable(follow):
            self._safely(follow, self.episode.observation, action)
        elif player == self.name and not self._slow:  # a model would have to be asked for each turn again
            self._safely(self._agent.act, self._observation())
            self._unseen.clear()
        else:
            self._unseen.append(self.episode.observation)

    def _observation(self) -> Observation:
        """What the agent is shown: the present observation with all messages that it has missed."""
        missed = [message for observation in self._unseen for message in observation.messages]
        present = self.episode.observation
        return replace(present, messages=(*missed, *present.messages)) if missed else present

    def choose(self) -> None:
        """Let the agent decide on its next action, unless it has; this may take as long as a model needs.

        Raises:
            SessionError: The agent cannot go on, or the episode is over.
        """
        if not self.episode.running:
            raise SessionError("This episode is over.")
        if not self._chosen:
            self._chosen.append(self._safely(self._agent.act, self._observation()))
            self._unseen.clear()

    def take(self) -> Any:
        """Take the turn that the agent has decided on; returns its action."""
        action = self._chosen.pop()
        self.episode.step(action, self.name)
        return action

    def turn(self) -> Any:
        """Let the agent take the next turn; returns its action.

        Raises:
            SessionError: The agent cannot go on, or the episode is over.
        """
        self.choose()
        return self.take()
