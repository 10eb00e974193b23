"""The state machine of one episode: an agent's turn in, the customer's reaction and the tools' results out.

In each turn the tool calls run first, in order; then the customer reacts to the message; an answer is judged last. The
reward exists only when the episode is over.
"""

from __future__ import annotations

import json
import marshal
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from ecomrlve.catalog.search import SearchEngine
from ecomrlve.customer.dialogue import Reply, TurnFacts
from ecomrlve.customer.grammar import Grammar
from ecomrlve.customer.ledger import Ledger
from ecomrlve.difficulty import Difficulty
from ecomrlve.errors import EpisodeNotRunningError, InvalidActionError, Refused, short
from ecomrlve.intents import SUBJECT_CHANGED, Intent, intents_of, spoken
from ecomrlve.protocol import Action, Observation, ToolCall, parse_action
from ecomrlve.rewards import Reward, efficiency, hallucination
from ecomrlve.shop.stock import Unit
from ecomrlve.tasks.base import AnyTask, ComposedTask, Part, Verdict, generate
from ecomrlve.tools import REGISTRY, make_tool
from ecomrlve.tools.base import plain_schema

INVALID = "Invalid output: "
UNREADABLE = "unreadable"  # key of the stand-in for an invalid output that JSON cannot hold, or that is too long
MOST_RECORDED = 128 * 1024  # bytes of one action


def ask_user(question: str) -> dict[str, Any]:
    """Ask the customer something; the same as a message. It does not count against the tool budget.

    Args:
        question: What to ask.
    """
    return {}


ASK_USER = make_tool(ask_user, skip=0)


class Episode:
    """One running conversation. `Environment` makes it and hands actions through.

    Args:
        task: Which environment.
        engine: Search engine with the catalog.
        axes: The twelve axes.
        seed: What everything in it is keyed by, together with the environment.
        salt: Another goal in the same world; law 4 compares such pairs.
        grammar: The customer's words; None for the built-in ones.
    """

    def __init__(
        self,
        task: AnyTask,
        engine: SearchEngine,
        axes: Difficulty,
        seed: int,
        *,
        salt: tuple[Any, ...] = (),
        grammar: Grammar | None = None,
    ):
        self.task = task
        self.axes = axes
        self.grammar = grammar
        self.seed = seed
        key = (task.env_id, seed)
        self.problem = generate(task, engine, axes, key, salt)
        self.world = self.problem.world
        self.intents = intents_of(task, self.problem, axes.turn_budget, axes.noise, key, grammar)
        # A journey has the turns of all its intents together.
        self.turn_budget = axes.turn_budget * len(self.intents.all)
        self.turn = 0
        self.user_turns = 0
        self.terminated = self.truncated = False
        self.reward: Reward | None = None
        self.done: list[dict[str, Any]] = []
        self.steps: list[dict[str, Any]] = []
        # Copies of the episode's own: what an agent does to its observation must not reach another episode.
        schemas = json.loads(_schemas(task))
        self._tools = tuple(schemas["tools"])
        self._answer_fields = schemas["answer"]
        self._last_said: str | None = None
        self.opening = self.intents.current.customer.open()

    @property
    def ledger(self) -> Ledger:
        """What was said of the current intent."""
        return self.intents.current.ledger

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.terminated or self.truncated

    def observe(self, messages: list[dict[str, Any]]) -> Observation:
        """What the agent gets now: what came since its last turn, and its budgets."""
        return Observation(
            messages=tuple(messages),
            turn=self.turn,
            turns_left=self.turn_budget - self.turn,
            intent_turns_left=min(self.intents.current.turns_left, self.turn_budget - self.turn),
            tool_budget=self.axes.tool_budget,
            search_depth=self.axes.search_depth,
            list_size=self.axes.list_size,
            today=self.world.today.isoformat(),
            env_id=self.task.env_id,
            tools=self._tools,
            answer_fields=self._answer_fields,
        )

    def first_observation(self) -> Observation:
        """The customer's opening."""
        return self.observe([_customer_message(self.opening)])

    def step(self, raw: object) -> Observation:
        """Take one agent turn.

        Args:
            raw: The agent's output in any of the three dialects.

        Raises:
            EpisodeNotRunningError: The episode is over.
        """
        if self.over:
            raise EpisodeNotRunningError("this episode is over; call reset() to start the next one")
        started = time.perf_counter()
        now = self.intents.current
        self.turn += 1
        now.turns += 1
        try:
            if isinstance(raw, dict) and set(raw) == {UNREADABLE}:
                raise InvalidActionError(str(raw[UNREADABLE]))
            action = parse_action(raw)
            calls = self._checked_calls(action)
            answer = self._checked_answer(action)
        except InvalidActionError as error:
            return self._end_invalid(raw, str(error), started)
        before = _Before(self)
        results, messages = self._use_tools(calls)
        # What is sold out by now may be asked for, and must be said before an answer counts.
        gone = now.task.sold_out(now.problem, now.ledger)
        for key in gone:
            now.ledger.wake(key)
        hasty = answer is not None and now.turns_left > 0 and not now.ledger.everything_said()
        accepted = answer is not None and not hasty
        reply: Reply | None
        if accepted and answer is not None:
            for identifier in answer.get("recommended_product_ids", []):
                self.world.output(identifier)
            now.answer = answer
            more = len(self.intents.stack) > 1 or self.intents.raised < len(self.intents.all)
            reply, following = now.customer.thank(self.turn, more=more), self.intents.close(self.turn)
        else:
            reply = now.customer.react(self._facts(now, action.message, before, gone, hasty))
            now.heard(reply)
            following = None if hasty or (reply and reply.quit) else self.intents.interrupt(self.turn)
            if following is not None:
                following = replace(following, discount=SUBJECT_CHANGED)
        replies = [(intent, part) for intent, part in ((now, reply), (self.intents.current, following)) if part]
        reply = spoken(reply, following)
        self.user_turns += bool(reply and reply.discount)
        sold_out = self.world.stock.end_turn()
        if reply is not None:
            messages.append(_customer_message(reply))
        self.terminated = bool(reply and reply.quit) or not self.intents.unanswered
        self.truncated = not self.terminated and self.turn >= self.turn_budget
        if self.over:
            self._judge("" if not self.intents.unanswered else _without_answer(self.truncated))
        self._record(raw, action, results, reply, replies, sold_out, started)
        return self.observe(messages)

    def _use_tools(
        self, calls: list[tuple[ToolCall, dict[str, Any]]]
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Run the calls in order; returns what the record keeps and what the agent gets, which share nothing."""
        results, messages = [], []
        self.world.touched.clear()
        for number, (call, arguments) in enumerate(calls):
            began = time.perf_counter()
            result = self._run(number, call, arguments)
            milliseconds = round(1000 * (time.perf_counter() - began), 3)
            kept = {"name": call.name, "args": plain_copy(call.args), "result": plain_copy(result)}
            results.append(kept | {"ms": milliseconds})
            messages.append({"role": "tool", "name": call.name, "args": plain_copy(call.args), "result": result})
        return results, messages

    def _facts(self, now: Intent, message: str, before: _Before, gone: Mapping[str, Unit], hasty: bool) -> TurnFacts:
        """What the customer can know of this turn."""
        shown = self.world.shown_in(message, before.seen) if message else []
        sight = now.task.see(now.problem, now.ledger, shown)
        better = sight.quality > now.quality
        now.quality = max(now.quality, sight.quality)
        looked = len(self.world.seen) > len(before.seen) or len(self.world.seen_variants) > before.variants
        return TurnFacts(
            turn=self.turn,
            turns_left=now.turns_left,
            message=message,
            hasty=hasty,
            changed=self.world.cart.lines != before.cart or self.world.transactions() != before.transactions,
            shown=len(shown),
            complaints=sight.complaints,
            reached=sight.reached,
            sold_out=tuple(key for key, unit in gone.items() if unit in self.world.touched),
            gone=tuple(gone),
            progress=looked or better,
        )

    def _checked_calls(self, action: Action) -> list[tuple[ToolCall, dict[str, Any]]]:
        """Check all calls before any runs, so that an invalid output changes nothing."""
        checked = []
        for call in action.tool_calls:
            if call.name not in self.task.tools and call.name != "datetime_now":
                known = ", ".join([*offered_tools(self.task), "ask_user", "submit_answer"])
                where = "no tool is" if call.name not in REGISTRY else f"{self.task.env_id} does not offer the tool"
                raise InvalidActionError(f"{where} called {short(call.name)!r}; the tools here are {known}")
            checked.append((call, REGISTRY[call.name].validate(call.args)))
        return checked

    def _checked_answer(self, action: Action) -> dict[str, Any] | None:
        if action.answer is None:
            return None
        try:
            if self.problem.parts:
                # In a journey a field of any intent must be well formed; those of the current one count.
                self.task.answer.model_validate(action.answer)
            return self.intents.current.task.answer.model_validate(action.answer).model_dump()
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in problem["loc"])
            raise InvalidActionError(f"answer: {place}: {problem['msg']}") from error

    def _run(self, number: int, call: ToolCall, arguments: Mapping[str, Any]) -> dict[str, Any]:
        if number >= self.axes.tool_budget:
            budget = self.axes.tool_budget
            return Refused(
                "tool_budget", f"this turn's {budget} tool calls are used up; call again in the next turn"
            ).as_result()
        return REGISTRY[call.name].call(self.world, arguments)

    def _verdict(self) -> Verdict:
        """What the verifiers of all intents say."""
        found = [
            (intent, intent.task.verify(intent.problem, intent.ledger, intent.answer or {}, self.axes))
            for intent in self.intents.all
        ]
        if not isinstance(self.task, ComposedTask):
            return found[0][1]
        parts = [
            (Part(intent.task, intent.problem), intent.ledger, verdict if intent.answer is not None else None)
            for intent, verdict in found
        ]
        return self.task.judge(self.problem, parts)

    def _judge(self, note: str) -> None:
        verdict = self._verdict()
        answered = not self.intents.unanswered
        seen = {identifier for identifier, ok in self.world.outputs.items() if ok}
        self.reward = Reward.of(
            verdict.task,
            efficiency(self.turn, self.user_turns, self.turn_budget),
            hallucination(self.world.outputs, seen),
            verdict.parts | {"turns": self.turn, "user_turns": self.user_turns},
            verdict.correct and answered,
            f"{note}{verdict.reason}",
        )
        self.done = verdict.done

    def _end_invalid(self, raw: object, reason: str, started: float) -> Observation:
        self.terminated = True
        self.reward = Reward.invalid(f"{INVALID}{reason}")
        self._record(raw, None, [], None, [], [], started)
        return self.observe([])

    def _record(
        self,
        raw: object,
        action: Action | None,
        results: list[dict[str, Any]],
        reply: Reply | None,
        replies: Sequence[tuple[Intent, Reply]],
        sold_out: list[Unit],
        started: float,
    ) -> None:
        said = None
        if reply is not None:
            said = {
                "acts": list(reply.acts),
                "text": reply.text,
                "slots": [self.intents.key(intent, key) for intent, part in replies for key in part.slots],
                "new": [self.intents.key(intent, key) for intent, part in replies for key in part.new],
            }
        shop: dict[str, Any] = {"cart": self.world.cart_lines()}
        if self.world.transactions():
            shop["returns"] = self.world.returns.listed()
        self.steps.append(
            {
                "turn": self.turn,
                "action": _recordable(raw, action, self.reward.reason if self.reward and not action else ""),
                "canonical": action.canonical() if action else None,
                "tool_results": results,
                "customer": said,
                "discounted": bool(reply and reply.discount and not self.terminated),
                "discount_reason": reply.discount if reply else "",
                "shop": shop | {"sold_out": [self._unit_id(*u) for u in sold_out]},
                "ms": round(1000 * (time.perf_counter() - started), 3),
            }
        )

    def _unit_id(self, row: int, variant: int | None) -> str:
        return self.world.product_id(row) if variant is None else self.world.variant_id(row, variant)


class _Before:
    """What was seen and in the cart before a turn's tool calls."""

    def __init__(self, episode: Episode):
        self.seen = dict(episode.world.seen)
        self.variants = len(episode.world.seen_variants)
        self.cart = dict(episode.world.cart.lines)
        self.transactions = episode.world.transactions()


def plain_copy(value: Any) -> Any:
    """A deep copy of JSON data; many times as quick as `copy.deepcopy`."""
    try:
        # Containers, texts and numbers of the plain types only, which is what JSON data is made of.
        return marshal.loads(marshal.dumps(value))
    except ValueError:
        return _copied(value)


def _copied(value: Any) -> Any:
    """The same for data that holds something else, such as a subclass of a plain type; tuples become lists."""
    if isinstance(value, dict):
        return {key: _copied(entry) for key, entry in value.items()}
    return [_copied(entry) for entry in value] if isinstance(value, list | tuple) else value


def _recordable(raw: object, action: Action | None, reason: str) -> Any:
    """The action as sent, if JSON can hold it; else something that replays to the same outcome."""
    if isinstance(raw, str | dict):
        try:
            text = json.dumps(raw, allow_nan=False, ensure_ascii=False)
            if len(text.encode()) <= MOST_RECORDED and json.loads(text) == raw:
                return plain_copy(raw)
        except (TypeError, ValueError, RecursionError):
            pass
    return action.canonical() if action is not None else {UNREADABLE: reason.removeprefix(INVALID)}


def _customer_message(reply: Reply) -> dict[str, Any]:
    return {"role": "customer", "content": reply.text}


def _without_answer(truncated: bool) -> str:
    return "The turns ran out without an answer. " if truncated else "The customer left without an answer. "


_schema_texts: dict[str, str] = {}


def _schemas(task: AnyTask) -> str:
    """The tools' and the answer's schemas as JSON text, from which each episode makes its own copy."""
    if task.env_id not in _schema_texts:
        schemas = {"tools": _offered(task), "answer": plain_schema(task.answer)["properties"]}
        _schema_texts[task.env_id] = json.dumps(schemas)
    return _schema_texts[task.env_id]


def offered_tools(task: AnyTask) -> tuple[str, ...]:
    """The names of the tools that an environment offers: its task's, and the date."""
    return tuple(dict.fromkeys((*task.tools, "datetime_now")))


def _offered(task: AnyTask) -> tuple[dict[str, Any], ...]:
    """The schemas an agent sees: the task's tools, the date, talking, answering."""
    answer = {
        "type": "function",
        "function": {
            "name": "submit_answer",
            "description": "Finish: hand in the answer. It is final, unless the customer still has something to say.",
            "parameters": plain_schema(task.answer),
        },
    }
    schemas = [REGISTRY[name].schema for name in offered_tools(task)]
    return (*schemas, ASK_USER.schema, answer)
