"""Where the lines of `ecomrlve play` come from: a keyboard, with history and completion, or a file or a pipe."""

from __future__ import annotations

from collections.abc import Callable
from typing import TextIO

from ecomrlve.cli.play_commands import ALIASES, COMMANDS, answer_form, find_tool, tool_form, tool_schemas
from ecomrlve.cli.play_values import PlayError
from ecomrlve.protocol import Observation

PROMPT = "> "


class Lines:
    """Reads one line after the other.

    Args:
        stream: Standard input.
        choices: Gives the words that may stand at the end of a line that was begun.
    """

    def __init__(self, stream: TextIO, choices: Callable[[str], list[str]]):
        self._stream = stream
        self._choices = choices
        self._found: list[str] = []
        self._keyboard = stream.isatty()
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            # A line that is no text must not end the game.
            reconfigure(errors="replace")
        if self._keyboard:
            self._listen()

    def read(self) -> str | None:
        """The next line without its line break, or None where there is no more."""
        if not self._keyboard:
            line = self._stream.readline()
            return line.rstrip("\r\n") if line else None
        try:
            return input(PROMPT)
        except EOFError:
            print()  # the cursor stands behind the prompt
            return None

    def _listen(self) -> None:
        """Let the arrow keys bring lines back and the tabulator complete words, where the system has readline."""
        try:
            import readline
        except ImportError:
            return
        readline.set_completer_delims(" \t\n")
        readline.set_completer(self._complete)
        readline.parse_and_bind("bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete")

    def _complete(self, text: str, state: int) -> str | None:
        """Readline's way of asking: the choices one by one, then None."""
        import readline

        if state == 0:
            line = readline.get_line_buffer()[: readline.get_endidx()]
            found = [choice for choice in self._choices(line) if choice.startswith(text)]
            self._found = [choice if choice.endswith("=") else f"{choice} " for choice in found]
        return self._found[state] if state < len(self._found) else None


def completions(line: str, observation: Observation) -> list[str]:
    """What may stand at the end of a line: commands and tools, then arguments, then the values they can have.

    Args:
        line: What is typed so far.
        observation: It says what tools and answer fields there are.
    """
    text = line.lstrip().removeprefix("+").lstrip()
    first, blank, rest = text.partition(" ")
    last = text.rpartition(" ")[2]
    if not blank:
        return [name for name in (*COMMANDS, *tool_schemas(observation)) if name.startswith(last)]
    first = ALIASES.get(first.lower(), first.lower())
    if first == "help":
        return [name for name in (*tool_schemas(observation), *COMMANDS) if name.startswith(last)]
    if first in COMMANDS and first != "answer":
        return []
    try:
        form = answer_form(observation) if first == "answer" else tool_form(find_tool(first, observation), observation)
    except PlayError:
        return []
    key, sign, _ = last.partition("=")
    if sign:
        return [f"{key}={choice}" for choice in form.properties.get(key, {}).get("enum", ())]
    return [f"{name}=" for name in form.properties if name != "done" and f"{name}=" not in rest]
