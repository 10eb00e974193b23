"""The command `demonstrations`: from files or from episodes played now, to a folder that loads."""

import json

import pytest
import typer
from typer.testing import CliRunner

from ecomrlve.cli.demonstrations import demonstrations
from ecomrlve.errors import EcomrlveError
from ecomrlve.evaluation import pool

datasets = pytest.importorskip("datasets")


@pytest.fixture(autouse=True)
def quick_default(monkeypatch, words_engine):
    monkeypatch.setattr(pool, "engine_of", lambda catalog, **options: words_engine)


@pytest.fixture
def run(monkeypatch):
    """Runs the command in this process: exit code, what it printed and complained about, the error that left it."""
    app = typer.Typer()
    app.command()(demonstrations)

    def run(*arguments):
        words = ["--quiet", *map(str, arguments)]
        monkeypatch.setattr("sys.argv", ["ecomrlve", "demonstrations", *words])
        result = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
        error = result.exception if isinstance(result.exception, EcomrlveError) else None
        return result.exit_code, result.output, error

    return run


@pytest.fixture
def runs(all_records, tmp_path):
    """Two folders of records, a broken line in one."""
    for number, name in enumerate(("first", "second")):
        folder = tmp_path / name
        folder.mkdir()
        lines = [json.dumps(record) for record in all_records[number:8:2]]
        (folder / "traj-1.jsonl").write_text("\n".join([*lines, '{"torn'][: 4 + number]), encoding="utf-8")
    return tmp_path / "first", tmp_path / "second"


def load(folder, tmp_path):
    return datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))


def test_files_become_a_dataset(run, runs, tmp_path):
    code, printed, error = run(*runs, "--out", tmp_path / "out")
    assert (code, error) == (0, None)
    assert "8 rows (4 train, 4 test)" in printed
    assert "left out 1 like its line cannot be read: traj-1.jsonl, line 5" in printed
    loaded = load(tmp_path / "out", tmp_path)
    assert {name: len(split) for name, split in loaded.items()} == {"train": 4, "test": 4}
    assert f"ecomrlve demonstrations --quiet {runs[0]}" in (tmp_path / "out" / "README.md").read_text()


def test_options_reach_the_export(run, runs, tmp_path):
    options = ("--talk", "text", "--test-share", 0, "--per-cell", 1, "--agent", "reference", "--only", "answered")
    code, _, _ = run(*runs, "--out", tmp_path / "out", *options, "--min-total", -1, "--max-characters", 10_000)
    (split,) = load(tmp_path / "out", tmp_path).values()
    card = (tmp_path / "out" / "README.md").read_text()
    assert code == 0
    assert set(split["agent"]) == {"reference"}
    assert not any("ask_user" in json.dumps(turn.get("tool_calls")) for row in split for turn in row["messages"])
    for words in (
        "in plain text",
        "0 % of all seeds",
        "at most 1 per",
        "played by reference",
        "10,000",
        "-1",
        "answer",
    ):
        assert words in card


def test_an_agent_plays_now(run, tmp_path):
    grid = ("--envs", "E_STATUS,E_POLICY", "--difficulty", "0,2", "--seeds", "20004:20006")
    code, printed, _ = run("--play", "reference", *grid, "--out", tmp_path / "out")
    assert code == 0
    assert "8 rows (4 train, 4 test)" in printed
    cells = {(row["env_id"], row["difficulty"]) for row in load(tmp_path / "out", tmp_path)["train"]}
    assert cells == {(env_id, d) for env_id in ("E_STATUS", "E_POLICY") for d in (0, 2)}


@pytest.mark.parametrize("seeds", ["dev", "0:5", "5000:10001", "test:3"])
def test_seeds_for_measuring_are_refused_before_anybody_plays(run, tmp_path, seeds, monkeypatch, words_engine):
    def nobody(*arguments, **options):
        raise AssertionError("an engine was wanted")

    monkeypatch.setattr(pool, "engine_of", nobody)
    code, _, error = run("--play", "reference", "--envs", "E_STATUS", "--seeds", seeds, "--out", tmp_path / "out")
    assert code != 0
    assert "is for measuring" in str(error)
    assert "--allow-held" in str(error)


def test_seeds_for_measuring_are_taken_if_they_must(run, tmp_path):
    grid = ("--envs", "E_STATUS", "--difficulty", "0", "--seeds", "dev:2")
    code, printed, _ = run("--play", "reference", *grid, "--allow-held", "--out", tmp_path / "out")
    assert code == 0
    assert "2 rows" in printed
    assert "not kept out" in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.parametrize("words", [(), ("RUNS", "--play", "reference")])
def test_either_files_or_an_agent(run, runs, tmp_path, words):
    named = [runs[0] if word == "RUNS" else word for word in words]
    code, printed, _ = run(*named, "--out", tmp_path / "out")
    assert code == 2
    assert "one of the two" in printed


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--play", "nobody", "--envs", "E_STATUS"), "there is no agent 'nobody'"),
        (("--play", "reference", "--envs", "E_X"), "environment 'E_X'"),
        (("--play", "reference", "--difficulty", "13"), "13"),
        (("no/such/folder",), "no/such/folder"),
    ],
)
def test_what_is_not_there_is_named(run, tmp_path, words, complaint):
    code, _, error = run(*words, "--out", tmp_path / "out")
    assert code != 0
    assert complaint in str(error)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", [("--only", "nice"), ("--talk", "sing"), ("--test-share", "2"), ("--per-cell", "0")])
def test_values_that_there_are_not_are_refused(run, runs, tmp_path, words):
    code, printed, _ = run(*runs, *words, "--out", tmp_path / "out")
    assert code == 2
    assert words[0] in printed


def test_a_full_folder_is_replaced_only_if_told_to(run, runs, tmp_path):
    assert run(runs[0], "--out", tmp_path / "out")[0] == 0
    code, _, error = run(runs[1], "--out", tmp_path / "out")
    assert code != 0
    assert "--overwrite" in str(error)
    assert run(runs[1], "--out", tmp_path / "out", "--overwrite")[0] == 0


def test_it_is_pushed_if_told_to(run, runs, tmp_path, monkeypatch):
    import huggingface_hub

    uploads = []
    monkeypatch.setattr(huggingface_hub.HfApi, "create_repo", lambda self, name, **options: f"hub.example/{name}")
    monkeypatch.setattr(huggingface_hub.HfApi, "upload_folder", lambda self, **options: uploads.append(options))
    code, printed, _ = run(runs[0], "--out", tmp_path / "out", "--push-to-hub", "me/shop")
    assert code == 0
    assert "pushed to hub.example/me/shop" in printed
    assert [upload["repo_id"] for upload in uploads] == ["me/shop"]
