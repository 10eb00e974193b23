"""What `ecomrlve play` prints: tool results with every field, help, budgets, hints, at any width, and no markup."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from test_terminal_play import ALL, Terminal, lines_of, reference_actions

from ecomrlve.cli.play_commands import tool_schemas
from ecomrlve.cli.play_numbers import Numbers
from ecomrlve.cli.play_records import clean
from ecomrlve.cli.play_screen import Screen
from ecomrlve.environment import Environment


@pytest.fixture
def terminal(words_engine: Any, tmp_path: Path) -> Callable[..., Terminal]:
    return lambda *arguments, **options: Terminal(words_engine, tmp_path / "out", *arguments, **options)


def leaves(value: Any) -> Iterator[Any]:
    """Every value at the ends of nested JSON data."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part)
    else:
        yield value


def shown(result: dict[str, Any], width: int) -> str:
    """What the screen prints for a tool result."""
    out = io.StringIO()
    screen = Screen(Console(file=out, width=width, markup=False, highlight=False, emoji=False))
    numbers = Numbers()
    numbers.read(result)
    screen.result(numbers, result)
    return out.getvalue()


@pytest.mark.parametrize("width", [60, 100])
@pytest.mark.parametrize("env_id", ["E_CART", "E_SUB", "E_RETURN", "E_POLICY"])
def test_every_field_that_a_tool_returns_is_printed(words_engine, env_id, width):
    actions, _ = reference_actions(words_engine, env_id, 4, 4)
    env = Environment((env_id,), words_engine)
    env.reset(seed=4, options={"difficulty": 4})
    results = [
        message["result"] for action in actions for message in env.step(action)[0].messages if message["role"] == "tool"
    ]
    assert results
    for result in results:
        printed = shown(result, width)
        assert max(map(len, printed.splitlines())) <= width
        text = re.sub(r"\s", "", printed)
        for value in leaves(result):
            words = value if isinstance(value, str) else json.dumps(value).replace("null", "none")
            # A text that is broken over lines has other columns' cells in between.
            assert all(re.sub(r"\s", "", word) in text for word in words.split())


def test_a_refusal_is_printed_with_its_reason():
    assert "refused (out_of_stock): it is sold out" in shown(
        {"error": {"code": "out_of_stock", "message": "it is sold out"}}, 80
    )


@pytest.mark.parametrize(
    "title", ["A [red]lamp[/red]", "[/] lamp", ":smile: lamp", "\x1b[31mlamp\x1b]0;x\x07", "a\u202eb"]
)
def test_a_title_is_text_and_neither_markup_nor_a_terminals_command(title):
    printed = shown({"results": [{"id": "p1111111", "title": title, "attributes": {title: title}}], title: title}, 80)
    assert clean(title) in printed
    assert printed.count(clean(title)) == 5
    assert not set("\x1b\x07\u202e") & set(printed)


def test_brackets_in_what_is_said_are_printed_as_they_are(terminal):
    assert "you      [bold]Hi[/bold] \\[x]" in terminal(("E_PD",)).play(["say [bold]Hi[/bold] \\[x]"])


@pytest.mark.parametrize("env_id", ALL)
def test_help_names_every_tool_argument_and_answer_field(words_engine, terminal, env_id):
    observation, _ = Environment((env_id,), words_engine).reset(seed=3)
    topics = [*tool_schemas(observation), "answer"]
    out = terminal((env_id,)).play(["help", "tools", *(f"help {topic}" for topic in topics)])
    for schema in tool_schemas(observation).values():
        assert out.count(schema["name"]) >= 3
        for name, argument in schema["parameters"]["properties"].items():
            assert name in out
            assert all(str(choice) in out for choice in argument.get("enum", ()))
    assert all(name in out for name in observation.answer_fields if name != "done")


def test_the_line_of_budgets_counts(terminal):
    at = terminal(("E_JOURNEY",))
    out = at.play(["+ datetime_now", "budget", "send"], 3, 4)
    lines = [" ".join(line.split()) for line in out.split("\nturn ")[1:]]
    seen = at.game.observation
    total = seen.turn + seen.turns_left
    assert lines[0].startswith(
        f"1 of {total} · {total} turns left · {seen.intent_turns_left + 1} of them for this wish"
    )
    assert f"{seen.tool_budget} tool calls left this turn" in lines[0]
    assert f"{seen.tool_budget - 1} tool calls left this turn" in lines[1]
    assert "something in the tray" in lines[1]
    assert lines[2].startswith(f"2 of {total}")
    for part in (f"today {seen.today}", f"list size {seen.list_size}", f"search depth {seen.search_depth}"):
        assert all(part in line for line in lines)


def test_the_tray_is_sent_as_one_turn_or_cleared(terminal):
    at = terminal(("E_PD",))
    at.play(["+ search lamp", "clear", "tray", "+ search desk", "+ say One moment.", "+answer #9", "say Which color?"])
    (turn,) = at.game.turns
    assert [call.args for call in turn.action.tool_calls] == [{"query": "desk"}]
    assert turn.action.message == "One moment.\nWhich color?"
    assert turn.action.answer is None
    assert at.game.tray is None


def test_the_log_repeats_what_was_said_and_one_turn_in_full(terminal):
    at = terminal(("E_PD",))
    at.play(["+ search lamp", "say Which color?", "log", "log 1"])
    before, log, full = (text for _, text in at.printed[2:])
    assert "Which color?" in log[len(before) :]
    assert "#1" not in log[len(before) :]
    assert at.game.turns[0].messages[0]["result"]["results"][0]["id"] in full[len(log) :]


def test_hints_are_given_where_they_are_wanted(terminal):
    assert "Hint:" not in terminal(("E_PD",)).play(["datetime_now"])
    out = terminal(("E_PD",), advise=True).play(["search lamp", "search p<=3 lamp", "say Hm."])
    assert "Hint: The customer may not have said everything" in " ".join(out.split())
    assert "Hint: There are more entries" in out
    assert "Hint: A refused call" in out
    assert "Hint: This is the last turn" in out


@pytest.mark.parametrize("width", [60, 100])
def test_no_line_is_wider_than_the_terminal(words_engine, terminal, width):
    actions, _ = reference_actions(words_engine, "E_JOURNEY", 5, 2)
    at = terminal(("E_JOURNEY",), width=width)
    out = at.play(["help", *(line for action in actions for line in lines_of(action)), "log"], 5, 2)
    to_copy = ("ecomrlve play", str(at.folder))
    assert [line for line in out.splitlines() if len(line) > width and not any(part in line for part in to_copy)] == []
