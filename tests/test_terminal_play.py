"""`ecomrlve play`: whole episodes typed line by line, slips of the keyboard, and what is printed."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from test_terminal_play_lines import LINES

from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.cli.play import play
from ecomrlve.cli.play_desk import Desk
from ecomrlve.cli.play_input import Lines
from ecomrlve.cli.play_screen import Screen
from ecomrlve.collections import COLLECTIONS
from ecomrlve.environment import Environment
from ecomrlve.protocol import parse_action
from ecomrlve.replay import TrajectoryStore, load_trajectories, verify

ALL = COLLECTIONS["C8"]
# Ids as an agent sees them: a letter for the kind, then seven signs of which at least one is a digit.
ID = re.compile(r"\b[pvolhr](?=\w*\d)[0-9a-z]{7}\b")


def reference_actions(engine: Any, env_id: str, seed: int, d: int) -> tuple[list[dict[str, Any]], Any]:
    """What the reference agent does in an episode, and the reward it gets."""
    env = Environment((env_id,), engine)
    observation, _ = env.reset(seed=seed, options={"difficulty": d})
    agent = ReferenceAgent()
    agent.reset(env)
    actions, over, info = [], False, {}
    while not over:
        actions.append(agent.act(observation))
        observation, _, terminated, truncated, info = env.step(actions[-1])
        over = terminated or truncated
    return actions, info["reward"]


def lines_of(action: dict[str, Any]) -> list[str]:
    """The lines that a person types for an action: all but the last go into the tray."""
    parts = [
        " ".join([call["name"], *(f"{name}={json.dumps(value)}" for name, value in call["args"].items())])
        for call in action.get("tool_calls", [])
    ]
    if action.get("assistant_message"):
        parts.append(f"say {action['assistant_message']}")
    if "answer" in action:
        fields = [f"{name}={json.dumps(value)}" for name, value in action["answer"].items() if name != "done"]
        parts.append(" ".join(["answer", *(fields or ["done=true"])]))
    return [*(f"+ {part}" for part in parts[:-1]), parts[-1]]


class Terminal:
    """A desk whose lines come from a list; it keeps what was printed before each line was read."""

    def __init__(self, engine: Any, folder: Path, envs: tuple[str, ...] = ALL, *, width: int = 100, **options: Any):
        self.out = io.StringIO()
        self.printed: list[tuple[int, str]] = []
        self.folder = folder
        self._lines: Iterator[str] = iter(())
        console = Console(file=self.out, width=width, markup=False, highlight=False, emoji=False)
        self.desk = Desk(
            Screen(console), self._read, Environment(envs, engine), TrajectoryStore(folder), name="tester", **options
        )

    def _read(self) -> str | None:
        self.printed.append((len(self.game.turns), self.out.getvalue()))
        return next(self._lines, None)

    def play(self, lines: list[str], seed: int | None = 3, d: int = 0) -> str:
        """Type the lines; returns all that was printed."""
        self._lines = iter(lines)
        self.desk.run(seed, d)
        return self.out.getvalue()

    @property
    def game(self) -> Any:
        assert self.desk.game is not None
        return self.desk.game

    def records(self) -> list[dict[str, Any]]:
        """What was stored."""
        return load_trajectories(self.folder)[0] if list(self.folder.glob("*.jsonl")) else []


@pytest.fixture
def terminal(words_engine: Any, tmp_path: Path) -> Callable[..., Terminal]:
    return lambda *arguments, **options: Terminal(words_engine, tmp_path / "out", *arguments, **options)


# --- whole episodes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [0, 5])
@pytest.mark.parametrize("env_id", ALL)
def test_the_reference_agents_actions_can_be_typed(words_engine, terminal, env_id, d):
    actions, reward = reference_actions(words_engine, env_id, 3, d)
    at = terminal((env_id,))
    printed = at.play([line for action in actions for line in lines_of(action)], 3, d)
    assert at.game.reward == reward
    assert reward.task == 1.0
    (record,) = at.records()
    assert [step["canonical"] for step in record["steps"]] == [parse_action(action).canonical() for action in actions]
    assert record["player"] == {"name": "tester", "kind": "human"}
    result = verify(record, words_engine)
    assert result.ok, result.difference
    assert "Correct: all that the customer wanted" in printed
    assert f"{reward.total:+.3f}" in printed
    assert f"{len(actions)} turn" in printed.partition("The reference agent")[2]
    _nothing_unsaid_is_printed(at, record)


def _nothing_unsaid_is_printed(at: Terminal, record: dict[str, Any]) -> None:
    """Before the end, every id that is printed was in a tool result or a message, and no requirement but those said."""
    waiting = {slot["text"]: min((s["turn"] for s in slot["said"]), default=99) for slot in record["ledger"]}
    running = [(turns, printed) for turns, printed in at.printed if turns < len(record["steps"])]
    assert len({turns for turns, _ in running}) == len(record["steps"])
    for turns, printed in running:
        seen_so_far = [record["opening"]["text"], *record["steps"][:turns]]
        known = json.dumps(seen_so_far, ensure_ascii=False)
        assert set(ID.findall(printed)) <= set(ID.findall(known))
        told = re.sub(r"\s+", " ", printed)
        for text, when in waiting.items():
            assert when <= turns or text not in told or text in known


# --- slips of the keyboard -------------------------------------------------------------------------------------------

WRONG = {
    "hello there": "say or a quotation mark",
    "What color?": "say or a quotation mark",
    "serch lamp": "Did you mean search",
    "catalog": "may be catalog_search or",
    "order_list": "no tool here",
    "ask_user question=x": "say TEXT",
    "submit_answer": "answer",
    "say": "Say what?",
    '"': "Say what?",
    "catalog_search": "query: Field required",
    "search query=lamp query=desk": "twice",
    "search lamp limit=three": "whole number",
    "search lamp limit=2.5": "whole number",
    "search lamp limit=true": "whole number",
    "search lamp limit=1,2": "whole number",
    "search lamp sort=cheap": "price_asc",
    "search lamp sortt=rating": "Did you mean sort",
    "search lamp price<25": "<=",
    "search lamp price<=1,000": "one value",
    "search lamp price<=2 price<=3": "twice",
    "search lamp limit<=3": "with =",
    "search lamp filters=cheap": "JSON object",
    'search lamp filters={"price":': "cannot be read",
    'search lamp filters={"price": 1, "price": 2}': "twice",
    "search lamp filters=" + "[" * 5000: "cannot be read",
    'search "lamp': "not closed",
    "search lamp price=": "no value",
    "variants #7": "no #7",
    "variants": "Field required",
    "variants p7k2m9qd": "Nothing has shown",
    "add now please": "put say before it",
    "view my cart": "belongs to nothing",
    "cart_update p7k2m9qd qty=1 size=XL": "cart_update has no size",
    "answer done=false": "leave it out",
    "answer 30 days": "belongs to nothing",
    "answer cart=full": "answer has no cart",
    "send": "nothing in the tray",
    "send it to me": "stands alone",
    "quit": "would not be stored",
    "+ help": "into the tray",
    "log 4": "no turn 4",
    "help nothing": "no tool",
    "{": "no tool",
    "=": "no tool",
    "#": "no tool",
    "say " + "x" * 70_000: "larger than",
    "say \ud800": "surrogate",
    "search \x1b[31m\x00 limit=x": "whole number",
}


@pytest.mark.parametrize("line", WRONG, ids=lambda line: repr(line[:30]))
def test_a_slip_asks_back_and_nothing_has_happened(terminal, line):
    at = terminal(("E_CART",))
    at.play([line])
    (_, before), (turns, after) = at.printed[:2]
    assert WRONG[line] in " ".join(after[len(before) :].split())
    assert turns == 0
    assert at.game.tray is None
    assert "\x1b" not in after
    assert at.records() == []


def test_a_doubtful_line_goes_through_when_it_is_typed_again(terminal):
    at = terminal(("E_CART",))
    at.play(["variants p7k2m9qd", "variants p7k2m9qq", "tray", "variants p7k2m9qq", "variants p7k2m9qq"])
    assert [turns for turns, _ in at.printed] == [0, 0, 0, 0, 0, 1]
    assert "refused (unknown_product)" in at.printed[-1][1]


def test_an_answer_without_fields_is_doubted_where_there_are_fields(terminal):
    at = terminal(("E_PD",))
    at.play(["answer", "answer"])
    assert [turns for turns, _ in at.printed[:3]] == [0, 0, 1]
    at = terminal(("E_PD",))
    at.play(["answer done=true"])
    assert at.game.turns


def test_one_call_too_many_is_doubted(terminal):
    at = terminal(("E_PD",))
    budget = at.desk._environment.reset(seed=3)[0].tool_budget
    out = at.play([*["+ datetime_now"] * budget, "+ search lamp", "search lamp"])
    assert "one more would be refused" in out
    assert len(at.game.tray.tool_calls) == budget
    assert at.game.turns == []


@settings(max_examples=25)
@given(st.lists(LINES.filter(lambda line: line.strip() != "quit"), min_size=3, max_size=8), st.sampled_from(ALL))
def test_no_lines_end_an_episode_as_invalid(words_engine, tmp_path_factory, lines, env_id):
    at = Terminal(words_engine, tmp_path_factory.mktemp("out"), (env_id,))
    at.play([line.replace("\n", " ") for line in lines])
    assert all("Invalid" not in record["reward"]["reason"] for record in at.records())


# --- from one episode to the next ------------------------------------------------------------------------------------


def test_after_the_end_there_is_another_episode(words_engine, terminal):
    actions, reward = reference_actions(words_engine, "E_PD", 3, 0)
    lines = [line for action in actions for line in lines_of(action)]
    at = terminal(("E_PD",))
    out = at.play([*lines, "what?", "log", "again", *lines, "harder", "quit", "quit", "never read"])
    first, second = at.records()
    assert first["reward"] == second["reward"] == reward.to_dict()
    assert [record["player"]["name"] for record in (first, second)] == ["tester", "tester (again)"]
    assert out.count("What next?") == 4
    assert (at.game.env_id, at.game.difficulty) == ("E_PD", 1)
    assert f"--env E_PD --difficulty 1 --seed {at.game.seed}" in out.rpartition("Left;")[2]


def test_a_new_episode_is_drawn_from_all_that_may_be_played(words_engine, terminal, monkeypatch):
    both = ("E_CART", "E_PD")
    drawn = {seed: Environment(both, words_engine).reset(seed=seed)[1]["env_id"] for seed in range(20)}
    first = min(seed for seed in drawn if drawn[seed] == "E_PD")
    second = min(seed for seed in drawn if drawn[seed] == "E_CART")
    monkeypatch.setattr("ecomrlve.environment.secrets.randbelow", lambda limit: second)
    at = terminal(both)
    at.play(["answer done=true"] * 12 + ["new"], first, 2)
    assert (at.game.env_id, at.game.seed, at.game.difficulty) == ("E_CART", second, 2)


def test_twelve_is_the_hardest(terminal):
    at = terminal(("E_STATUS",))
    out = at.play(["say Hm."] * 10 + ["harder", "HARDER"], 3, 12)
    assert at.game.reward is not None
    assert out.count("Difficulty 12 is the highest") == 2
    assert "Not correct." in out


def test_what_cannot_be_stored_is_said_and_not_the_end(words_engine, tmp_path):
    (tmp_path / "file").write_text("")
    at = Terminal(words_engine, tmp_path / "file" / "out", ("E_STATUS",))
    out = at.play(["say Hm."] * 4 + ["again", "quit", "quit"])
    assert "Not stored: cannot write" in " ".join(out.split())
    assert out.count("To play it again") == 2


def test_the_goal_what_was_said_and_whose_turns_did_not_count_is_told(words_engine, terminal):
    actions, _ = reference_actions(words_engine, "E_CART", 3, 4)
    at = terminal(("E_CART",))
    out = at.play([line for action in actions for line in lines_of(action)], 3, 4)
    (record,) = at.records()
    end = " ".join(out.partition("the end ─")[2].split())
    free = [step["turn"] for step in record["steps"] if step["discounted"]]
    assert free
    assert all(f"{turn} (" in end.partition("not counted as yours:")[2] for turn in free)
    assert "rc decal: Checkered" in end
    assert "turn 1 (clarify)" in end
    assert all(item["product_id"] in end for item in record["goal"]["items"])
    assert "1 57.99" in end.partition("The goal")[2]
    assert "4 55.99" in end.partition("The goal")[2]


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def command(words_engine, monkeypatch, capsys, tmp_path):
    """Runs the command with lines from a pipe: exit code and what it printed."""
    monkeypatch.setattr("ecomrlve.evaluation.pool.engine_of", lambda catalog, **options: words_engine)
    app = typer.Typer()
    app.command()(play)

    def run(lines: str | bytes, *arguments: Any) -> tuple[int, str]:
        raw = io.BytesIO(lines if isinstance(lines, bytes) else lines.encode())
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw, encoding="utf-8"))
        with pytest.raises(SystemExit) as end:
            app(["--out", str(tmp_path / "out"), *map(str, arguments)])
        return end.value.code, capsys.readouterr().out

    return run


def test_lines_from_a_pipe_play_an_episode(words_engine, command, tmp_path):
    actions, reward = reference_actions(words_engine, "E_STATUS", 7, 3)
    lines = "\r\n".join(line for action in actions for line in lines_of(action))
    code, out = command(lines, "--env", "E_STATUS", "--seed", 7, "--difficulty", 3, "--name", "Ada")
    assert code == 0
    assert "> " not in out
    assert "\x1b" not in out
    (record,) = load_trajectories(tmp_path / "out")[0]
    assert record["reward"] == reward.to_dict()
    assert record["player"] == {"name": "Ada", "kind": "human"}
    assert verify(record, words_engine).ok


def test_the_end_of_the_pipe_leaves_and_says_how_to_come_back(command, tmp_path):
    code, out = command("", "--words-only")
    assert code == 0
    repeat = re.findall(r"ecomrlve play --words-only --env (E_[A-Z]+) --difficulty 0 --seed (\d+)", out)
    assert len(repeat) == 2
    assert not (tmp_path / "out").exists()
    again = command("", "--env", repeat[0][0], "--seed", repeat[0][1])[1]
    assert (
        again.partition("customer ")[2].partition("\nturn ")[0] == out.partition("customer ")[2].partition("\nturn ")[0]
    )


def test_bytes_that_are_no_text_are_no_crash(command):
    code, out = command(b"say \xff\xfe\n\xff\nsay Hello.\n", "--env", "E_PD", "--seed", 3)
    assert code == 0
    assert "you      Hello." in out


def test_an_interrupt_leaves_with_the_shells_code(command, monkeypatch):
    def interrupted(self: Lines) -> str | None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Lines, "read", interrupted)
    code, out = command("", "--env", "E_PD", "--seed", 3)
    assert code == 130
    assert "Left;" in out
    assert "--env E_PD --difficulty 0 --seed 3" in out


def test_a_folder_that_cannot_be_written_is_refused_before_the_game(command, tmp_path):
    (tmp_path / "file").write_text("")
    code, out = command("", "--out", tmp_path / "file" / "x", "--env", "E_PD")
    assert code == 2
    assert out == ""


class Keyboard(io.StringIO):
    """Standard input of a person."""

    def isatty(self) -> bool:
        return True


def test_at_a_keyboard_lines_come_with_a_prompt_and_an_end(monkeypatch):
    typed = iter(["search lamp"])
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", answer)
    lines = Lines(Keyboard(), lambda line: [])
    assert [lines.read(), lines.read()] == ["search lamp", None]
    assert prompts == ["> ", "> "]
