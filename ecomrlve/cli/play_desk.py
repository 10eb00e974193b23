"""The loop of `ecomrlve play`: it takes lines, and plays one episode after the other."""

from __future__ import annotations

from collections.abc import Callable

from ecomrlve.cli.play_commands import Command, parse
from ecomrlve.cli.play_ending import reference_run, show_ending
from ecomrlve.cli.play_game import Game
from ecomrlve.cli.play_help import show_help, show_tools
from ecomrlve.cli.play_hints import hints
from ecomrlve.cli.play_input import completions
from ecomrlve.cli.play_screen import Screen
from ecomrlve.cli.play_values import PlayError
from ecomrlve.environment import Environment
from ecomrlve.errors import EcomrlveError, TrajectoryError
from ecomrlve.replay import TrajectoryStore

HARDEST = 12
AFTER = {
    "again": "the same episode once more",
    "harder": "another episode, one level up",
    "new": "another episode",
    "log": "the conversation",
    "quit": "leave",
}


class Desk:
    """Plays one episode after the other with whoever types the lines.

    Args:
        screen: What is printed on.
        read: Gives the next line, or None where there is no more.
        environment: What is played; no one else uses it.
        store: Where finished episodes go.
        name: The player's name.
        command: The command line that begins the same choice of episodes, without difficulty and seed.
        advise: Whether to give hints.
    """

    def __init__(
        self,
        screen: Screen,
        read: Callable[[], str | None],
        environment: Environment,
        store: TrajectoryStore,
        *,
        name: str = "human",
        command: str = "ecomrlve play",
        advise: bool = False,
    ):
        self.game: Game | None = None
        self._screen = screen
        self._read = read
        self._environment = environment
        self._store = store
        self._name = name
        self._command = command
        self._advise = advise
        self._doubted = ""
        self._known: set[tuple[str, int, int]] = set()

    def run(self, seed: int | None, difficulty: int) -> None:
        """Play until the player leaves.

        Args:
            seed: Seed of the first episode; None draws one.
            difficulty: d of the first episode.

        Raises:
            EcomrlveError: There is no such episode.
        """
        game: Game | None = Game.start(self._environment, seed, difficulty)
        while game is not None:
            self.game = game
            self._introduce(game)
            if not self._play(game):
                self.farewell()
                return
            self._finish(game)
            game = self._next(game)

    def farewell(self) -> None:
        """Say how to get back to an episode that is left unfinished; nothing where none is."""
        if self.game is not None and self.game.reward is None:
            self._screen.note("Left; this episode is not stored. To begin it again:")
            self._screen.verbatim(f"  {self._repeat(self.game)}")

    def choices(self, line: str) -> list[str]:
        """What may stand at the end of a line that was begun."""
        if self.game is None or self.game.reward is not None:
            return [name for name in AFTER if name.startswith(line.strip())]
        return completions(line, self.game.observation)

    def _repeat(self, game: Game) -> str:
        return f"{self._command} --env {game.env_id} --difficulty {game.difficulty} --seed {game.seed}"

    def _introduce(self, game: Game) -> None:
        task = Environment.task_of(game.env_id)
        self._screen.note(f"{task.title} ({game.env_id}), difficulty {game.difficulty}, seed {game.seed}", "bold")
        self._screen.verbatim(f"To play it again: {self._repeat(game)}", "dim")
        self._screen.note(task.instructions)
        self._screen.note("You are the shop's assistant. Type help to learn how, tools for what you can use.\n")
        self._screen.messages(game, game.opening)
        self._before_turn(game)

    def _before_turn(self, game: Game) -> None:
        for hint in hints(game) if self._advise else ():
            self._screen.note(f"Hint: {hint}", "italic")
        self._screen.status(game)

    # --- while an episode runs ---------------------------------------------------------------------------------------

    def _play(self, game: Game) -> bool:
        """Take lines until the episode is over; False where the player leaves before."""
        self._doubted = ""
        while game.reward is None:
            line = self._read()
            if line is None:
                return False
            if not line.strip():
                continue
            try:
                if self._take(game, line.strip()).name == "quit":
                    return False
            except PlayError as error:
                self._doubted = ""
                self._screen.problem(str(error))
        return True

    def _take(self, game: Game, line: str) -> Command:
        """Do what a line says, unless it is doubtful and not yet repeated."""
        command = parse(line, game.observation, game.numbers)
        doubt = _doubt(game, command)
        if doubt and line != self._doubted:
            self._doubted = line
            self._screen.problem(f"{doubt} Type the same line again if you mean it.")
            return Command("doubted")
        self._doubted = ""
        if command.action is None:
            self._show(game, command)
        elif command.collect:
            game.collect(command.action)
            self._screen.tray(game)
        else:
            self._send(game, command)
        return command

    def _send(self, game: Game, command: Command) -> None:
        self._screen.turn(game, game.send(command.action))
        if game.reward is None:
            self._before_turn(game)

    def _show(self, game: Game, command: Command) -> None:
        """A command that is no part of a turn."""
        screen = self._screen
        if command.name == "send":
            self._send(game, command)
        elif command.name == "tray":
            screen.tray(game)
        elif command.name == "clear":
            game.tray = None
            screen.tray(game)
        elif command.name == "help":
            show_help(screen, game.observation, command.topic)
        elif command.name == "tools":
            show_tools(screen, game.observation)
        elif command.name == "budget":
            screen.status(game)
        elif command.name == "log":
            screen.log(game, command.topic)

    # --- after its end -----------------------------------------------------------------------------------------------

    def _finish(self, game: Game) -> None:
        """Store the episode and show how it went."""
        key = (game.env_id, game.seed, game.difficulty)
        # Whoever plays an episode again knows its goal, and the record must not pass for that of a first try.
        name = f"{self._name} (again)" if key in self._known else self._name
        self._known.add(key)
        record = game.environment.trajectory(name, "human").to_dict()
        try:
            # Before anything is shown, so that leaving in the middle of it loses nothing.
            outcome = f"Stored in {self._store.append(record)}"
        except TrajectoryError as error:
            outcome = f"Not stored: {error}"
        show_ending(self._screen, game, record, reference_run(game))
        self._screen.verbatim(f"\n{outcome}")

    def _next(self, game: Game) -> Game | None:
        """The episode that the player wants next, or None."""
        while True:
            self._screen.note("What next? " + ", ".join(f"{name}: {what}" for name, what in AFTER.items()), "bold")
            line = self._read()
            wish = "quit" if line is None else line.strip().lower()
            try:
                if wish == "quit":
                    return None
                if wish == "again":
                    return Game.start(self._environment, game.seed, game.difficulty, game.env_id)
                if wish == "new":
                    return Game.start(self._environment, None, game.difficulty)
                if wish == "harder" and game.difficulty < HARDEST:
                    return Game.start(self._environment, None, game.difficulty + 1, game.env_id)
                if wish == "harder":
                    self._screen.problem(f"Difficulty {HARDEST} is the highest.")
                if wish == "log":
                    self._screen.log(game)
            except EcomrlveError as error:
                self._screen.problem(str(error))


def _doubt(game: Game, command: Command) -> str:
    """Why a line is probably a slip, or would do harm; or ""."""
    if command.name == "quit":
        return "The episode is not over, and would not be stored."
    calls = len(command.action.tool_calls) if command.action is not None else 0
    if calls > game.calls_left:
        budget = game.observation.tool_budget
        return f"This turn has its {budget} tool calls already; one more would be refused."
    return command.doubt
