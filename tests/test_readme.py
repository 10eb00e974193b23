"""The README is true: its examples run, its commands exist, its pictures are there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ("laws", "environments", "scale", "evaluation")
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_the_python_examples_run(
    number: int, engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    colors = ("red", "blue", "green")
    rows = [f"Fine Mug {n},{8 + n % 7}.50,mug,{colors[n % 3]},{3 + n % 3}.5,{1 + n % 5},{5 + n}" for n in range(60)]
    header = "name,price,kind,colour,stars,days,units"
    (tmp_path / "shop.csv").write_text("\n".join([header, *rows]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(compile(EXAMPLES[number], "README.md", "exec"), {})
    assert capsys.readouterr().out.strip()


def test_the_front_matter_is_what_a_space_needs() -> None:
    front = yaml.safe_load(README.split("---")[1])
    pins = dict(
        line.split("==") for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").split() if "==" in line
    )
    assert front["sdk"] == "gradio"
    assert front["sdk_version"] == pins["gradio[mcp]"]
    assert front["python_version"] == "3.11"
    assert (ROOT / front["app_file"]).exists()


def test_every_picture_and_command_named_is_there() -> None:
    from typer.main import get_command

    from ecomrlve.cli import app

    for picture in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README):
        assert (ROOT / picture).exists(), picture
    commands = set(re.findall(r"-m ecomrlve (\w+)", README))
    assert commands <= set(get_command(app).commands)  # type: ignore[attr-defined]
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    assert set(re.findall(r"make (play|test|certify|bench|axes)\b", README)) <= targets


def test_every_environment_stands_in_the_table_and_every_collection_is_named() -> None:
    from ecomrlve.collections import COLLECTIONS, TASKS

    rows = re.findall(r"^\| `(E_[A-Z]+)` ([^|]+) \|", README, flags=re.MULTILINE)
    assert [env_id for env_id, _ in rows] == list(COLLECTIONS["C8"])
    for env_id, title in rows:
        assert title == TASKS[env_id].title.lower()
    assert [name for name in COLLECTIONS if f"`{name}`" not in README] == []


def test_the_axes_that_are_named_are_the_axes() -> None:
    from ecomrlve.difficulty import AXES

    named = README.split("the axes are ")[1].split("(")[0]
    assert tuple(re.findall(r"`(\w+)`", named)) == AXES


@pytest.mark.parametrize(
    "name", ["README.md", "docs/laws.md", "docs/environments.md", "docs/scale.md", "docs/evaluation.md"]
)
def test_every_option_of_a_command_is_one_that_it_takes(name: str) -> None:
    from typer.main import get_command

    from ecomrlve.cli import app

    commands: Any = get_command(app).commands  # type: ignore[attr-defined]
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
    for command, rest in re.findall(r"-m ecomrlve ([\w-]+)([^`\n]*)", text):
        rest = re.sub(r'"[^"]*"|\s#.*', "", rest)
        found = commands[command]
        if hasattr(found, "commands"):  # a group: `catalog generate`, or `catalog FILE` for `catalog show FILE`
            word = rest.split()[0] if rest.split() else ""
            found = found.commands.get(word, found.commands.get("show"))
            assert found is not None, f"{command} {word}"
        known = {option for parameter in found.params for option in parameter.opts}
        assert set(re.findall(r"--[\w-]+", rest)) <= known, command


def test_the_number_of_cheats_is_theirs() -> None:
    from ecomrlve.agents.cheats import CHEATS

    assert f"| {len(CHEATS)} policies that do not do the task" in README


def test_the_shipped_vectors_belong_to_the_default_catalog(catalog: Any) -> None:
    from ecomrlve.catalog.encoder import SentenceEncoder
    from ecomrlve.catalog.index import SHIPPED, embeddings, file_name

    assert (SHIPPED / file_name(catalog, SentenceEncoder())).exists()
    assert embeddings(catalog, SentenceEncoder()).shape == (10_000, 384)
