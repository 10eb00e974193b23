"""Agents behind a server: any URL that speaks OpenAI's chat completions, or Hugging Face's Inference Providers.

``endpoint:http://127.0.0.1:8000/v1#my-model?temperature=0.6`` or ``endpoint:Qwen/Qwen3-8B?provider=together``. The key
comes from the environment variable ECOMRLVE_AGENT_KEY and gets into no name, error or record.

An episode whose server gives no answer in spite of all patience ends, and its notes say why under ``failed``; what the
model itself does wrong ends it as the environment's rules say. An empty answer is asked for once more; the second one
counts as the model's own. An answer that was cut off at `max_tokens` counts at once.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from ecomrlve.agents.base import Agent, no_answer
from ecomrlve.agents.chat import ContextError, Conversation, Message
from ecomrlve.agents.endpoint_answer import Answer, read_answer
from ecomrlve.agents.endpoint_notes import Notes
from ecomrlve.agents.endpoint_options import EndpointOptions
from ecomrlve.agents.endpoint_server import KEY, ChatServer, place_of
from ecomrlve.agents.endpoint_trouble import MISTAKEN, EndpointError, RequestError
from ecomrlve.agents.endpoint_waiting import Patience, RateLimit, pause_after
from ecomrlve.agents.past_turns import past_message
from ecomrlve.environment import Environment
from ecomrlve.protocol import Observation
from ecomrlve.streams import Stream, key_of

CHARACTERS_PER_TOKEN = 3  # of JSON with ids; a low guess, so that a chat is taken for too long rather than too short
LESS = 0.75  # how much of a chat is kept when a server says that it is too long


class EndpointPlayers:
    """The agents of many episodes on one server; each episode needs a thread of its own.

    Args:
        name: The agent's whole name.
        where: ``URL#MODEL``, or the id of a model on Hugging Face.
        options: See `EndpointOptions`.
        clock: Seconds that only go forward.
        sleep: Waits for some seconds.

    Raises:
        AgentNameError: `where` names no server and model.
        EndpointError: The key cannot be sent.
    """

    threads = True
    model = False

    def __init__(
        self,
        name: str,
        where: str,
        options: EndpointOptions | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ):
        self.name = name
        self.options = options or EndpointOptions()
        self.width = self.options.parallel
        self.server = ChatServer(place_of(where, self.options.provider), clock)
        self.limit = RateLimit(self.options.per_minute, clock)
        self._clock = clock
        self._sleep = sleep

    def player(self, trial: int = 0) -> EndpointAgent:
        """See `Players.player`."""
        return EndpointAgent(self, trial)

    def act(self, players: Sequence[Agent], observations: Sequence[Observation]) -> list[Any]:
        """See `Players.act`; one after another, as each waits for the server."""
        return [player.act(observation) for player, observation in zip(players, observations, strict=True)]

    def patience(self) -> Patience:
        """The time for one turn, from now on."""
        return Patience(self.options.patience, self._clock, self._sleep)

    def check(self) -> None:
        """Send one tiny request, so that a mistake in the settings shows before any episode is played.

        Raises:
            EndpointError: There is no server, it refuses the key, or it does not know the model.

        Warns:
            UserWarning: Something else is wrong. It may pass, as with a server that still loads the model, or be about
                this request only, so it is left to the episodes.
        """
        greeting = [{"role": "user", "content": "Hello"}]
        place = self.server.place
        if place.hub and not self.server.has_key:
            raise EndpointError(f"no token for Hugging Face: log in with `hf auth login`, or set {KEY}")
        try:
            tiny = self.options.model_copy(update={"max_tokens": 1})
            self.server.ask(tiny.body(place.model, greeting, (), 0), tiny.timeout)
        except RequestError as error:
            if error.unreachable:
                raise EndpointError(f"nothing answers at {place.url}: {error}; is the server running?") from error
            if error.status in MISTAKEN or error.status in range(300, 400):
                what = f"the key in {KEY}" if error.status in (401, 402, 403) else "the URL and the model's name"
                raise EndpointError(f"{place.url} refuses the model {place.model!r}: {error}; check {what}") from error
            warnings.warn(f"{place.url} gave no answer to the first request: {error}; playing anyway", stacklevel=2)
        finally:
            self.server.close()  # workers may be forked next, and must not share a connection


class EndpointAgent:
    """Plays one episode at a time through `EndpointPlayers`.

    Args:
        players: What it shares with the agents of other episodes.
        trial: Other seeds for each repetition of an episode.
    """

    def __init__(self, players: EndpointPlayers, trial: int = 0):
        self.name = players.name
        self._players = players
        self._options = players.options
        self._trial = trial
        self._key: tuple[object, ...] = ()
        self._start("")

    def _start(self, system: str) -> None:
        self._conversation = Conversation(system)
        self._notes = Notes(self._options.price_in, self._options.price_out)
        self._limit: int | None = None  # most tokens of the chat, without the tools

    def reset(self, env: Environment) -> None:
        """Start a new chat. Of the episode only its name counts: environment, difficulty and seed."""
        episode = env.episode
        name = (episode.task.env_id, episode.axes.d, episode.seed, self._trial)
        self._key = ("endpoint", self._options.seed, *name)
        self._start(env.system_prompt(self._options.dialect))

    def notes(self) -> dict[str, Any]:
        """What the episode took and what went wrong: see `Notes.to_dict`."""
        return self._notes.to_dict(self._conversation)

    def act(self, observation: Observation) -> dict[str, Any]:
        """The model's message, or the action that stands for none."""
        self._conversation.hear(observation)
        patience = self._players.patience()
        try:
            answer = self._answer(observation, patience)
        except RequestError as error:
            self._notes.failed = error.reason
            return no_answer(error.reason)
        finally:
            self._notes.waited += patience.waited
        self._remember(answer.action)
        return answer.action

    def follow(self, observation: Observation, action: Any) -> None:
        """Take in a turn that was taken already, by whomever, without asking the server.

        Args:
            observation: What came before the turn.
            action: What was given to the environment.
        """
        self._conversation.hear(observation)
        self._remember(action)

    def _answer(self, observation: Observation, patience: Patience) -> Answer:
        """The server's answer, asked for as often as it takes.

        Raises:
            RequestError: There is none to be had.
        """
        stream = Stream(*self._key, "pause", observation.turn)
        failures = 0
        emptied = False
        while True:
            try:
                answer = self._request(observation, patience, emptied)
            except RequestError as error:
                self._notes.problem(observation.turn + 1, error.reason)
                if error.too_long and self._shorten():
                    continue
                failures += 1
                if not error.retriable or failures >= self._options.tries:
                    raise
                pause = pause_after(failures, error, stream)
                if not patience.wait(pause):
                    raise RequestError(f"{error.reason}; {patience.end_of(pause)}") from error
                self._notes.counts["retries"] += 1
                continue
            if emptied or not answer.empty or answer.cut_off or failures + 1 >= self._options.tries:
                return answer
            emptied = True
            failures += 1
            self._notes.counts["retries"] += 1
            self._notes.problem(observation.turn + 1, _empty(answer))

    def _request(self, observation: Observation, patience: Patience, again: bool) -> Answer:
        """One request, when the rate limit lets it through."""
        place_in = self._players.limit.reserve(patience.left)
        if not patience.wait(place_in):
            raise RequestError(f"no request could be sent in time; {patience.end_of(place_in)}", retriable=False)
        server, options = self._players.server, self._options
        tools = observation.tools if options.dialect == "native" else ()
        if options.context is not None and self._limit is None:
            self._limit = max(0, options.context - _rough_tokens(tools))
        if self._limit is not None:
            self._fit(self._limit)
        seed = key_of(*self._key, observation.turn, again) % 2**31
        body = options.body(server.place.model, _sent(self._conversation.messages), tools, seed)
        self._notes.counts["requests"] += 1
        answer = read_answer(server.ask(body, min(options.timeout, patience.left)))
        self._notes.answered(answer)
        return answer

    def _shorten(self) -> bool:
        """Make the chat shorter, now and in later turns; False where nothing more can go."""
        self._limit = int(LESS * _rough_tokens(self._conversation.messages))
        return self._fit(self._limit)

    def _fit(self, limit: int) -> bool:
        try:
            self._conversation.fit(limit, _rough_tokens)
        except ContextError:
            return False  # the count is rough: let the server decide
        return True

    def _remember(self, action: Any) -> None:
        """Put a turn into the chat, without thoughts, as chat templates do."""
        message = past_message(action, self._options.dialect)
        if message is not None:  # else it ends the episode, so nobody will read the chat
            self._conversation.say(message)


def _empty(answer: Answer) -> str:
    where = "; all there is are thoughts" if answer.thoughts or answer.content else ""
    return f"the answer was empty{where}"


def _rough_tokens(texts: Sequence[Message]) -> int:
    return len(json.dumps(texts, ensure_ascii=False)) // CHARACTERS_PER_TOKEN


def _sent(messages: list[Message]) -> list[Message]:
    """The chat as servers take it: with the arguments of calls as JSON text."""
    return [
        message | {"tool_calls": [_sent_call(call) for call in message["tool_calls"]]}
        if "tool_calls" in message
        else message
        for message in messages
    ]


def _sent_call(call: dict[str, Any]) -> dict[str, Any]:
    function = call["function"]
    arguments = function["arguments"]
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return call | {"function": function | {"arguments": text}}
