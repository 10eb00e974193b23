"""The command line: what it prints, and with which exit code it ends."""

import json
import subprocess
import sys

import pytest

from ecomrlve import cli
from ecomrlve.agents.base import play
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.collections import COLLECTIONS
from ecomrlve.environment import Environment
from ecomrlve.evaluation import pool

TINY = ("--difficulty", "0,4", "--seeds", "0:2", "--workers", "1", "--words-only")


@pytest.fixture(autouse=True)
def quick_default(monkeypatch, words_engine):
    """The default catalog is there already; a file is read as ever."""
    real = pool.engine_of

    def engine_of(catalog, **options):
        return words_engine if catalog in (None, "default") else real(catalog, **(options | {"words_only": True}))

    monkeypatch.setattr(pool, "engine_of", engine_of)


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs a command in this process: exit code, what it printed, what it complained about."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["ecomrlve", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        capsys.readouterr()
        code = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def one_line(text):
    """Whether a complaint is short and readable, not a dump."""
    return text.strip() and "Traceback" not in text and len(text.strip().splitlines()) == 1


@pytest.fixture(scope="module")
def stored(words_engine):
    """The lines of three finished episodes."""
    lines = []
    for env_id, seed in (("E_PD", 1), ("E_CART", 2), ("E_PD", 3)):
        env = Environment((env_id,), words_engine)
        play(env, ReferenceAgent(), seed, 4)
        lines.append(env.trajectory("reference", "agent").to_json())
    return lines


# --- number lists ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("3", [3]),
        ("0:4", [0, 1, 2, 3]),
        ("0,3,6", [0, 3, 6]),
        ("0:2,9", [0, 1, 9]),
        (":2", [0, 1]),
        (" 1 , 2 ", [1, 2]),
    ],
)
def test_number_lists(text, found):
    assert cli.numbers(text) == found


@pytest.mark.parametrize("text", ["a", "1.5", "0:", "1-3", "0:1:2", "3:3", "5:2"])
def test_what_is_no_list_of_numbers_is_refused_and_named(run, text):
    code, out, complaint = run("certify", *TINY, "--seeds", text)
    assert code == 2
    assert text in complaint
    assert "Traceback" not in complaint
    assert out == ""


# --- certify ---------------------------------------------------------------------------------------------------------


def test_a_tiny_grid_is_certified_as_json(run, tmp_path, words_engine):
    code, out, _ = run("certify", *TINY, "--law", "1,7,8", "--json", "--out", tmp_path / "certificate.json")
    certificate = json.loads(out)
    assert code == 0
    assert certificate["passed"] is True
    assert [law["law"] for law in certificate["laws"]] == [1, 7, 8]
    assert all(law["passed"] for law in certificate["laws"])
    assert certificate["catalog"]["fingerprint"] == words_engine.catalog.fingerprint
    assert json.loads((tmp_path / "certificate.json").read_text()) == certificate
    rows = {(row["env"], row["d"]): row for row in certificate["laws"][0]["rows"]}
    assert set(rows) == {(env_id, d) for env_id in COLLECTIONS["C8"] for d in (0, 4)}
    assert all(row["episodes"] == row["correct"] == row["perfect"] == 2 for row in rows.values())


def test_a_tiny_grid_is_certified_for_people(run):
    code, out, _ = run("certify", *TINY, "--law", "1", "--envs", "C1")
    assert code == 0
    assert "Law 1" in out
    assert "All laws hold" in out
    assert "E_PD" not in out


def test_a_broken_law_ends_with_1(run, monkeypatch):
    class Lazy(ReferenceAgent):
        def act(self, observation):
            return {"answer": {"done": True}}

    monkeypatch.setattr("ecomrlve.evaluation.laws.ReferenceAgent", Lazy)
    code, out, _ = run("certify", *TINY, "--law", "1", "--json")
    assert code == 1
    assert json.loads(out)["passed"] is False


@pytest.mark.parametrize("law", ["0", "9", "1,10", "1,9"])
def test_a_law_that_is_not_measured_is_refused_with_those_that_are(run, law):
    code, out, complaint = run("certify", *TINY, "--law", law)
    assert code == 2
    assert f"law {law.split(',')[-1]} is not measured" in complaint
    assert "1, 2, 3, 4, 5, 6, 7, 8" in complaint
    assert out == ""


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--difficulty", "13"), "12, not 13"),
        (("--difficulty=-1",), "not -1"),
        (("--seeds=-1",), "seed must be"),
        (("--seeds", str(2**63)), "seed must be"),
        (("--envs", "E_NOPE"), "E_NOPE"),
        (("--envs", "C3"), "C3"),
        (("--envs", ""), "E_CART"),
        (("--catalog", "nowhere.jsonl"), "nowhere.jsonl"),
    ],
    ids=str,
)
def test_what_is_out_of_range_or_unknown_is_one_readable_line(run, arguments, words):
    code, out, complaint = run("certify", *TINY, *arguments)
    assert code == 2
    assert words in complaint
    assert one_line(complaint)
    assert out == ""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("count", ["0", "-1"])
def test_cheats_need_at_least_one_seed(run, count):
    code, _, complaint = run("certify", *TINY, "--law", "2", "--cheat-seeds", count)
    assert code == 2
    assert "Traceback" not in complaint


def test_a_certificate_that_cannot_be_written_is_one_readable_line(run, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, complaint = run("certify", *TINY, "--law", "1", "--out", tmp_path / "file" / "x.json")
    assert code == 2
    assert "x.json" in complaint
    assert "Traceback" not in complaint


# --- replay ----------------------------------------------------------------------------------------------------------


def write(folder, name, *lines):
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_good_trajectories_are_listed_and_verified(run, tmp_path, stored):
    path = write(tmp_path, "a.jsonl", *stored)
    code, out, complaint = run("replay", path)
    assert code == 0
    assert "3 trajectories, 0 lines skipped" in out
    assert "identical" not in out
    assert complaint == ""
    code, out, complaint = run("replay", path, "--verify")
    assert code == 0
    assert out.count("identical") == 3
    assert "0 differ" in out
    assert all(f"{env_id}  d=4  seed={seed}" in out for env_id, seed in (("E_PD", 1), ("E_CART", 2), ("E_PD", 3)))
    assert run("replay", tmp_path, "--verify")[:2] == (0, out)


def test_an_edited_trajectory_is_found_and_the_place_is_named(run, tmp_path, stored):
    edited = json.loads(stored[1])
    edited["reward"]["total"] = 0.123
    path = write(tmp_path, "a.jsonl", stored[0], json.dumps(edited), stored[2])
    assert run("replay", path)[0] == 0
    code, out, _ = run("replay", path, "--verify")
    assert code == 1
    assert out.count("identical") == 2
    assert "reward.total: stored 0.123" in out
    assert "1 differ" in out


def test_a_torn_line_is_reported_and_the_rest_counts(run, tmp_path, stored):
    path = write(tmp_path, "a.jsonl", stored[0], stored[1][:1000])
    code, out, complaint = run("replay", path, "--verify")
    assert code == 0
    assert "1 trajectories, 1 lines skipped, 0 differ" in out
    assert "a.jsonl, line 2" in complaint
    assert one_line(complaint)


def test_a_file_with_nothing_but_torn_lines_ends_with_1(run, tmp_path, stored):
    code, out, complaint = run("replay", write(tmp_path, "a.jsonl", stored[1][:1000]))
    assert code == 1
    assert "0 trajectories, 1 lines skipped" in out
    assert "line 1" in complaint


def test_a_trajectory_of_another_catalog_differs_and_says_so(run, tmp_path, stored):
    changed = json.loads(stored[0])
    changed["catalog"] = {"name": "elsewhere", "fingerprint": "0123"}
    code, out, _ = run("replay", write(tmp_path, "a.jsonl", json.dumps(changed)), "--verify")
    assert code == 1
    assert "'elsewhere'" in out


@pytest.mark.parametrize("kind", ["missing", "binary"])
def test_what_cannot_be_read_is_one_readable_line(run, tmp_path, kind):
    path = tmp_path / "x.jsonl"
    if kind == "binary":
        path.write_bytes(b"\xff\xfe\x00\x81" * 50)
    code, out, complaint = run("replay", path, "--verify")
    assert code == 2
    assert "x.jsonl" in complaint.replace("\n", "")
    assert "Traceback" not in complaint
    assert out == ""


@pytest.mark.parametrize("name", ["a[bold].jsonl", "a[/b].jsonl"])
def test_square_brackets_in_a_name_are_printed_as_they_are(run, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    code, _, complaint = run("catalog", name)
    assert code == 2
    assert name.removesuffix("l") in complaint


# --- catalog and help ------------------------------------------------------------------------------------------------


def test_the_card_of_the_default_catalog(run, catalog):
    code, out, _ = run("catalog")
    card = json.loads(out)
    assert code == 0
    assert card["products"] == len(catalog) == 10_000
    assert card["types"] == len(catalog.type_names)
    assert card["fingerprint"] == catalog.fingerprint


def test_the_card_of_a_file_says_what_was_dropped_and_what_is_unknown(run, tmp_path):
    rows = [
        {"title": f"Lamp number {number}", "price": 10 + number, "category": "Lamps", "type": "lamp", "color": "red"}
        for number in range(30)
    ]
    path = write(tmp_path, "lamps.jsonl", *map(json.dumps, [*rows, {"title": "no price", "category": "Lamps"}]))
    code, out, complaint = run("catalog", path)
    assert code == 0, complaint
    card = json.loads(out)
    assert card["products"] == 30
    assert card["card"]["read"] == 31
    assert card["card"]["dropped"] == {"price missing": 1}
    assert card["synthesized"] == []
    assert any("stock unknown" in note for note in card["card"]["notes"])


def test_an_unknown_catalog_file_is_one_readable_line_in_a_process_of_its_own():
    done = subprocess.run(
        [sys.executable, "-m", "ecomrlve", "catalog", "no/such/file.csv"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "file.csv" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 2


def test_without_a_command_the_commands_are_listed(run):
    code, out, complaint = run()
    assert code in (0, 2)
    assert all(name in out + complaint for name in ("certify", "replay", "catalog", "axes", "bench"))


def test_an_unknown_command_is_refused(run):
    code, _, complaint = run("certifi")
    assert code == 2
    assert "certifi" in complaint
    assert "Traceback" not in complaint
