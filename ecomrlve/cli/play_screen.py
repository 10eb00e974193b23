"""What the player of `ecomrlve play` sees while an episode runs: the conversation, tool results, the tray."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ecomrlve.cli.play_commands import call_line
from ecomrlve.cli.play_game import Game, Turn
from ecomrlve.cli.play_numbers import Numbers
from ecomrlve.cli.play_records import blocks, clean
from ecomrlve.cli.play_values import PlayError
from ecomrlve.errors import short
from ecomrlve.protocol import Action

MOST_OF_CALL = 300  # characters of a call in the log


class Screen:
    """Prints on a console.

    Args:
        console: Made without markup, so that everything is printed as the text it is.
    """

    def __init__(self, console: Console):
        self.console = console

    # --- the conversation --------------------------------------------------------------------------------------------

    def messages(self, game: Game, messages: tuple[dict[str, Any], ...]) -> None:
        """Tool results and what the customer said, in the order in which they came."""
        for message in messages:
            if message["role"] == "tool":
                self._call(message["name"], message["args"])
                self.result(game.numbers, message["result"])
            else:
                self._talk("customer", message["content"], "bold magenta")

    def result(self, numbers: Numbers, result: Mapping[str, Any]) -> None:
        """One tool result, every field of it."""
        error = result.get("error")
        if isinstance(error, Mapping):
            self.indented(Text(clean(f"refused ({error.get('code')}): {error.get('message')}"), style="red"), 2)
            return
        for block in blocks(result, numbers, self.console.width - 2):
            self.indented(block, 2)

    def turn(self, game: Game, turn: Turn) -> None:
        """A turn in the order in which it went: tool calls, what the player said, what the customer replied."""
        self.messages(game, tuple(message for message in turn.messages if message["role"] == "tool"))
        self._own(turn.action)
        self.messages(game, tuple(message for message in turn.messages if message["role"] != "tool"))

    def log(self, game: Game, topic: str = "") -> None:
        """The conversation, with tool calls in a line each; or one turn of it in full.

        Args:
            game: Whose conversation.
            topic: The number of a turn, or "" for all of them.

        Raises:
            PlayError: There is no such turn.
        """
        if topic:
            if not topic.isdecimal() or not 1 <= int(topic) <= len(game.turns):
                raise PlayError(f"There is no turn {short(topic)} yet; {len(game.turns)} were taken.")
            self.turn(game, game.turns[int(topic) - 1])
            return
        self.messages(game, game.opening)
        for number, turn in enumerate(game.turns, 1):
            self.note(f"turn {number}", "dim")
            for call in turn.action.tool_calls:
                self.note(f"  → {short(call_line(call.name, call.args), MOST_OF_CALL)}", "cyan")
            self._own(turn.action)
            self.messages(game, tuple(message for message in turn.messages if message["role"] != "tool"))

    def _own(self, action: Action) -> None:
        """What the player said and answered; its calls are printed with their results."""
        if action.message:
            self._talk("you", action.message, "bold green")
        if action.answer is not None:
            self._talk("you", call_line("answer", action.answer), "bold green")

    def _call(self, name: str, args: Mapping[str, Any]) -> None:
        self.note(f"→ {call_line(name, args)}", "cyan")

    def _talk(self, who: str, text: str, style: str) -> None:
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(no_wrap=True, style=style, width=8)
        grid.add_column(overflow="fold")
        grid.add_row(Text(who), Text(clean(text)))
        self.console.print(grid)

    # --- where the game stands ---------------------------------------------------------------------------------------

    def status(self, game: Game) -> None:
        """The line of budgets and limits."""
        seen = game.observation
        parts = [f"turn {seen.turn + 1} of {seen.turn + seen.turns_left}", _left(seen.turns_left, "turn")]
        if seen.intent_turns_left != seen.turns_left:
            parts.append(f"{seen.intent_turns_left} of them for this wish")
        parts += [
            f"{_left(max(0, game.calls_left), 'tool call')} this turn",
            f"today {seen.today}",
            f"list size {seen.list_size}",
            f"search depth {seen.search_depth}",
        ]
        if game.tray is not None:
            parts.append("something in the tray")
        self.note("\n" + " · ".join(parts), "dim")

    def tray(self, game: Game) -> None:
        """What the next turn holds so far."""
        if game.tray is None:
            self.note("The tray is empty. A line that begins with + goes into it.")
            return
        self.note(f"In the tray ({_left(max(0, game.calls_left), 'tool call')}; send takes the turn):")
        for call in game.tray.tool_calls:
            self.note(f"  → {call_line(call.name, call.args)}", "cyan")
        self._own(game.tray)

    def note(self, text: str, style: str = "") -> None:
        """A line of plain text."""
        self.console.print(Text(clean(text), style=style))

    def verbatim(self, text: str, style: str = "") -> None:
        """A line that is not broken, so that it can be copied."""
        self.console.print(Text(clean(text), style=style), soft_wrap=True)

    def problem(self, text: str) -> None:
        """What could not be done; nothing has happened."""
        self.note(text, "yellow")

    def pairs(self, rows: list[tuple[str, str]]) -> None:
        """Names with what they mean, side by side."""
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(style="bold", overflow="fold", max_width=24)
        grid.add_column(overflow="fold")
        for name, text in rows:
            grid.add_row(Text(clean(name)), Text(clean(text)))
        self.indented(grid, 2)

    def indented(self, what: RenderableType, columns: int) -> None:
        """Anything, moved to the right."""
        self.console.print(Padding(what, (0, 0, 0, columns), expand=False))


def _left(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'} left"
