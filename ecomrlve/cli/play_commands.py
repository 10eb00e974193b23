"""What a typed line means: a command of the game, or a part of a turn (a tool call, a message, an answer).

Nothing happens here. A line either becomes a `Command`, or a `PlayError` asks back; and whatever would be invalid, and
end the episode, is asked back as well: a slip of the keyboard is not what an episode judges.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from ecomrlve.cli.play_arguments import Form, strangers
from ecomrlve.cli.play_numbers import Numbers, kind_of
from ecomrlve.cli.play_values import PlayError, written
from ecomrlve.environment import Environment
from ecomrlve.errors import InvalidActionError, short
from ecomrlve.protocol import NOT_TOOLS, Action, Observation, ToolCall, parse_action
from ecomrlve.tools import REGISTRY

# Commands of the game with what they are for; `help` lists them. The others are the tools that the observation offers.
COMMANDS = {
    "say": 'say TEXT, or "TEXT: tell or ask the customer something',
    "answer": "hand in the answer; the episode ends, unless the customer still has something to say",
    "send": "take the turn with what is in the tray",
    "tray": "show what is in the tray",
    "clear": "empty the tray",
    "help": "this; help TOOL and help answer explain one thing",
    "tools": "the tools, in one line each",
    "budget": "how many turns and tool calls are left, and the limits",
    "log": "the conversation so far; log 2 shows all of turn 2 again",
    "quit": "leave; an unfinished episode is not stored",
}
WITH_TOPIC = ("help", "log")
ALIASES = {"?": "help", "exit": "quit", "q": "quit", "status": "budget"}
QUOTES = {'"': '"', "“": "”", "'": "'"}
SHORTEST = 3  # letters of a part of a tool's name that may stand for it
ALIKE = 0.7  # how similar a word must be to a name to be taken for a slip
_FIRST = re.compile(r"([^\s=<>≤≥\"'{\[]+)\s*(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Command:
    """One line, understood.

    Attributes:
        name: One of `COMMANDS`, or "turn" for a part of a turn.
        action: That part, or None.
        collect: It goes into the tray and is not sent yet.
        topic: What a command is about, such as the tool in ``help TOOL``.
        doubt: Why this is probably a slip, or ""; whoever means it types it again.
    """

    name: str
    action: Action | None = None
    collect: bool = False
    topic: str = ""
    doubt: str = ""


def tool_schemas(observation: Observation) -> dict[str, dict[str, Any]]:
    """The schemas of the tools that can be called here, by name."""
    functions = [tool["function"] for tool in observation.tools]
    return {function["name"]: function for function in functions if function["name"] not in NOT_TOOLS}


def answer_fields(observation: Observation) -> dict[str, dict[str, Any]]:
    """The schemas of the answer's fields, without `done`."""
    return {name: schema for name, schema in observation.answer_fields.items() if name != "done"}


def tool_form(name: str, observation: Observation) -> Form:
    """What a tool of this name takes; words without a name go to the arguments it cannot do without."""
    parameters = tool_schemas(observation)[name]["parameters"]
    return Form(name, parameters["properties"], tuple(parameters.get("required", ())))


def answer_form(observation: Observation) -> Form:
    """What the answer takes; a word without a name is clear only where a single field can be meant."""
    texts = tuple(name for name in answer_fields(observation) if not kind_of(name))
    return Form("answer", observation.answer_fields, texts if len(texts) == 1 else ())


def parse(line: str, observation: Observation, numbers: Numbers) -> Command:
    """Read a line that is not empty.

    Args:
        line: What was typed.
        observation: What the player sees: it says which tools and answer fields there are.
        numbers: The ids that were shown.

    Raises:
        PlayError: It cannot be understood, or would be invalid.
    """
    line = line.strip()
    collect = line.startswith("+")
    text = line[1:].lstrip() if collect else line
    if not text:
        return Command("tray")
    command = _part(text, observation, numbers)
    if not collect:
        return command
    if command.action is None:
        raise PlayError(f"Only a tool call, a message or an answer goes into the tray, not {command.name}.")
    return replace(command, collect=True)


def _part(text: str, observation: Observation, numbers: Numbers) -> Command:
    if text[0] in QUOTES:
        return _say(text[1:].removesuffix(QUOTES[text[0]]), numbers)
    match = _FIRST.match(text)
    first, rest = (match[1].lower(), match[2]) if match else ("", text)
    first = ALIASES.get(first, first)
    if first == "say":
        return _say(rest, numbers)
    if first == "answer":
        return _answer(rest, observation, numbers)
    if first in COMMANDS:
        if rest and first not in WITH_TOPIC:
            raise PlayError(f"{first} stands alone. If this is for the customer, put say before it.")
        return Command(first, topic=rest.strip())
    name = find_tool(first, observation)
    try:
        return _call(name, rest, observation, numbers)
    except PlayError as error:
        if name == first.replace(".", "_"):
            raise
        # An abbreviation may be the first word of a sentence.
        raise PlayError(
            f"{first} was taken for {name}. {error} If it is for the customer, put say before it."
        ) from error


def _say(text: str, numbers: Numbers) -> Command:
    message = numbers.spelled_out(text.strip())
    if not message:
        raise PlayError("Say what? Write say and the text.")
    action = Action(message)
    _checked(action)
    return Command("turn", action, topic="say")


def find_tool(word: str, observation: Observation) -> str:
    """The tool that a word names: its name, the only one that begins with the word, or the only one that holds it.

    Raises:
        PlayError: There is none, or more than one.
    """
    names = list(tool_schemas(observation))
    plain = word.replace(".", "_")
    if plain in names:
        return plain
    begins = [name for name in names if name.startswith(plain)]
    holds = [name for name in names if plain in name]
    for found in (begins, holds) if len(plain) >= SHORTEST else ():
        if len(found) == 1:
            return found[0]
        if found:
            raise PlayError(f"{word} may be {' or '.join(found)}; write a little more.")
    if plain in NOT_TOOLS:
        raise PlayError(f"{plain} is written {'say TEXT' if plain == 'ask_user' else 'answer'} here.")
    parts = {part for name in names for part in name.split("_") if len(part) >= SHORTEST}
    close = difflib.get_close_matches(plain, [*COMMANDS, *names, *sorted(parts)], n=2, cutoff=ALIKE)
    meant = f" Did you mean {' or '.join(close)}?" if close else ""
    raise PlayError(
        f"{short(word, 40) or 'This'} is no command and no tool here.{meant} "
        "To say it to the customer, put say or a quotation mark before it; help lists what there is."
    )


def _call(name: str, rest: str, observation: Observation, numbers: Numbers) -> Command:
    form = tool_form(name, observation)
    args = form.filled(rest, numbers)
    action = Action(tool_calls=(ToolCall(name, args),))
    _checked(action)
    try:
        REGISTRY[name].validate(args)
    except InvalidActionError as error:
        raise PlayError(f"{error}. It is used like this: {form.usage()}") from error
    return Command("turn", action, topic=name, doubt=_strange(args, numbers))


def _answer(rest: str, observation: Observation, numbers: Numbers) -> Command:
    values = answer_form(observation).filled(rest, numbers)
    if values.pop("done", True) is not True:
        raise PlayError("An answer that is not done counts as none; leave it out instead.")
    action = Action(answer=values)
    _checked(action)
    try:
        Environment.task_of(observation.env_id).answer.model_validate(values)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise PlayError(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}.") from error
    doubt = _strange(values, numbers)
    fields = answer_fields(observation)
    if fields and not rest.strip():
        doubt = f"The answer can have {', '.join(fields)}, and this one has nothing."
    return Command("turn", action, topic="answer", doubt=doubt)


def _strange(values: Mapping[str, Any], numbers: Numbers) -> str:
    strange = ", ".join(short(identifier, 20) for identifier in strangers(values, numbers))
    return f"Nothing has shown the id {strange} yet." if strange else ""


def _checked(action: Action) -> None:
    """Refuse what would be invalid whatever tool or answer it is for, such as text that is too long."""
    try:
        parse_action(action)
    except InvalidActionError as error:
        raise PlayError(f"This cannot be sent: {error}.") from error


def joined(tray: Action | None, part: Action) -> Action:
    """The tray with one more part of the turn in it.

    Raises:
        PlayError: An answer is in it already, or it gets too large.
    """
    if tray is None:
        return part
    if tray.answer is not None and part.answer is not None:
        raise PlayError("An answer is in the tray already; clear empties the tray.")
    message = "\n".join(filter(None, (tray.message, part.message)))
    answer = part.answer if tray.answer is None else tray.answer
    both = Action(message, (*tray.tool_calls, *part.tool_calls), answer)
    _checked(both)
    return both


def call_line(name: str, args: Mapping[str, Any]) -> str:
    """A call, or the word answer with its fields, as it can be typed."""
    return " ".join([name, *(f"{key}={written(value)}" for key, value in args.items())])
