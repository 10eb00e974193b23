"""The help of `ecomrlve play`: how lines are written, and what the tools and the answer take, from their schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from ecomrlve.cli.play_commands import COMMANDS, answer_fields, find_tool, tool_form, tool_schemas
from ecomrlve.cli.play_screen import Screen
from ecomrlve.protocol import Observation

# What is indented is an example.
GRAMMAR = (
    "One line is one command. A tool is called by its name and its arguments:",
    '  catalog_search query="usb charger" sort=price_asc',
    "A part of a name will do where it fits one tool only, and what a tool cannot do without needs no name:",
    "  search usb charger",
    "Filters are written like this, or as JSON (filters={…}):",
    "  search usb charger price<=25 color=black,white",
    "#3 stands for the id beside it:",
    "  variants #3",
    "  answer #3 #7",
    "Text with blanks or signs goes between quotation marks; lists are written a,b,c.",
    "A line is sent at once and takes a turn, and turns are few. A line that begins with + goes into the tray instead; "
    "the next line without + (or send) takes one turn with all of it. Tool calls run first, then the customer reads "
    "your message:",
    "  + search usb charger",
    "  say Which connector do you need? Is there anything else I should know?",
)


def show_help(screen: Screen, observation: Observation, topic: str) -> None:
    """How to play; or what one tool, one command or the answer takes.

    Args:
        screen: Where to print.
        observation: It says what tools and answer fields there are.
        topic: What to explain; empty for everything.

    Raises:
        PlayError: There is no such tool.
    """
    if not topic:
        for line in GRAMMAR:
            example = line.startswith("  ")
            screen.indented(Text(line.strip(), style="cyan" if example else ""), 4 if example else 0)
        screen.note("")
        screen.pairs(list(COMMANDS.items()))
        screen.note("")
        show_tools(screen, observation)
    elif topic == "answer":
        _show_form(screen, COMMANDS["answer"], answer_fields(observation), ())
    elif topic in COMMANDS:
        screen.pairs([(topic, COMMANDS[topic])])
    else:
        name = find_tool(topic.lower(), observation)
        form = tool_form(name, observation)
        screen.note(form.usage(), "bold")
        _show_form(screen, tool_schemas(observation)[name]["description"], form.properties, form.wanted)


def show_tools(screen: Screen, observation: Observation) -> None:
    """The tools and the answer, with what they take."""
    screen.note("The tools; what is in brackets may be left out:")
    for name, schema in tool_schemas(observation).items():
        screen.indented(Text(tool_form(name, observation).usage(), style="bold"), 2)
        screen.indented(Text(schema["description"]), 6)
    screen.note("The answer:")
    screen.indented(Text(" ".join(["answer", *(f"[{name}]" for name in answer_fields(observation))]), style="bold"), 2)


def _show_form(
    screen: Screen, description: str, properties: Mapping[str, Mapping[str, Any]], required: tuple[str, ...]
) -> None:
    screen.note(description[:1].upper() + description[1:])
    if not properties:
        screen.note("  It has nothing to fill in.")
    screen.pairs([(name, _explained(schema, name in required)) for name, schema in properties.items()])


def _explained(schema: Mapping[str, Any], required: bool) -> str:
    """The type of an argument, its choices, whether it may be left out, and what it is."""
    kinds = {"string": "text", "integer": "whole number", "array": "list", "object": "JSON object"}
    options = [str(option.get("type", "value")) for option in schema.get("anyOf", (schema,))]
    kind = " or ".join(kinds.get(option, option) for option in options)
    if schema.get("enum"):
        kind = "one of " + ", ".join(map(str, schema["enum"]))
    default = schema.get("default")
    missing = "" if required else f"; {default} if left out" if default not in (None, "") else "; may be left out"
    return f"({kind}{missing}) {schema.get('description', '')}".strip()
