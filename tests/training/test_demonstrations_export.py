"""Exports of demonstrations: which rows are in them, how they are split, what is on disk, and what the card says."""

import copy
import json
import re
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.splits import DEV, TEST
from ecomrlve.training import demonstrations_files
from ecomrlve.training.demonstrations import Choice, export, played, refuse_held, split_of, stored
from ecomrlve.training.demonstrations_chat import LeftOutError, Reason, demonstrate
from ecomrlve.training.demonstrations_files import DemonstrationError

datasets = pytest.importorskip("datasets")
SEARCH = {"name": "catalog_search", "args": {"query": "mug", "filters": {"weight": {"le": 0.3}, "price": {"le": 0.57}}}}


@pytest.fixture
def load(tmp_path):
    """Loads an export as anybody would, without a network."""
    return lambda folder: datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def made(all_records, words_engine, tmp_path_factory):
    """An export of all records."""
    return export(all_records, words_engine, tmp_path_factory.mktemp("export") / "all", command="ecomrlve test")


def names(turn):
    return [call["function"]["name"] for call in turn.get("tool_calls", ())]


def rows_of(dataset):
    return [row for split in dataset.values() for row in split]


# --- what is loaded --------------------------------------------------------------------------------------------------


def test_what_is_loaded_is_what_was_demonstrated(made, load, all_records, words_engine):
    loaded = {row["episode_id"]: row for row in rows_of(load(made.folder))}
    assert len(loaded) == len(all_records)
    for record in all_records:
        row = loaded[record["episode_id"]]
        one = demonstrate(record, words_engine)
        # As text: that 1 is no 1.0, and that keys keep their order, counts for a chat template.
        assert json.dumps(row["messages"]) == json.dumps(one.messages)
        assert json.dumps(row["tools"]) == json.dumps(one.tools)
        names = ("env_id", "difficulty", "seed")
        assert [row[name] for name in names] == [record[name] for name in names]
        assert (row["total"], row["correct"]) == (record["reward"]["total"], record["reward"]["correct"])
        assert (row["turns"], row["agent"], row["overrides"]) == (len(record["steps"]), "reference", "{}")
        assert row["catalog"] == words_engine.catalog.fingerprint


def test_the_splits_share_no_seed(made, load):
    loaded = load(made.folder)
    assert set(loaded) == {"train", "test"}
    seeds = {name: set(split["seed"]) for name, split in loaded.items()}
    assert seeds == {"train": {20001}, "test": {20005}}


@pytest.mark.parametrize("weight", [0.3, 0.35, 0.7, 24.99, 1e-7, 0.1, 2**53, -0.6])
def test_numbers_are_read_back_exactly(scripted, words_engine, tmp_path, load, weight):
    search = copy.deepcopy(SEARCH)
    search["args"]["filters"]["weight"]["le"] = weight
    record = scripted("E_CART", {"assistant_message": 'Is 0.3 or "0.7" right?', "tool_calls": [search]}, {"answer": {}})
    export([record], words_engine, tmp_path / "out", Choice(only="answered", min_total=-1))
    (row,) = rows_of(load(tmp_path / "out"))
    turn = next(message for message in row["messages"] if message["role"] == "assistant")
    assert turn["tool_calls"][0]["function"]["arguments"] == search["args"]
    assert turn["tool_calls"][1]["function"]["arguments"] == {"question": 'Is 0.3 or "0.7" right?'}


def test_a_number_that_would_be_read_as_another_leaves_its_chat_out(scripted, words_engine, tmp_path, all_records):
    search = copy.deepcopy(SEARCH)
    search["args"]["filters"]["weight"]["le"] = 0.1234567890123456
    record = scripted("E_CART", {"tool_calls": [search]}, {"answer": {}})
    made = export([record, *all_records[:1]], words_engine, tmp_path / "out", Choice(only="answered", min_total=-1))
    assert made.tally.left_out == {Reason.NOT_STORABLE: 1}


def test_batches_come_together_again(all_records, words_engine, tmp_path, load, monkeypatch, made):
    import pyarrow.parquet as pq

    monkeypatch.setattr(demonstrations_files, "BATCH_ROWS", 3)
    again = export(all_records, words_engine, tmp_path / "out", command="ecomrlve test")
    assert pq.ParquetFile(next((again.folder / "data").glob("train-*"))).num_row_groups == 3
    assert rows_of(load(again.folder)) == rows_of(load(made.folder))


def test_records_are_not_kept(cart_record, words_engine, tmp_path):
    class Record(dict):
        pass

    def records():
        alive = []
        for number in range(6):
            one = Record(copy.deepcopy(cart_record) | {"episode_id": str(number)})
            alive.append(weakref.ref(one))
            yield one
            del one
            assert sum(record() is not None for record in alive) <= 1

    assert export(records(), words_engine, tmp_path / "out").tally.left_out == {Reason.REPEATED: 5}


# --- which are taken -------------------------------------------------------------------------------------------------


def test_the_split_depends_on_the_seed_alone_and_never_changes():
    assert [seed for seed in range(20000, 20040) if split_of(seed) == "test"] == [20005, 20034]
    assert sum(split_of(seed) == "test" for seed in range(20000, 30000)) == pytest.approx(1000, abs=100)


@given(st.integers(0, 2**63 - 1), st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_only_adds_to_the_test_split(seed, one, other):
    if split_of(seed, min(one, other)) == "test":
        assert split_of(seed, max(one, other)) == "test"
    assert (split_of(seed, 0), split_of(seed, 1)) == ("train", "test")


@pytest.mark.parametrize(("seed", "name"), [(0, "dev"), (99, "dev"), (10_000, "test"), (10_199, "test")])
def test_seeds_for_measuring_are_refused_by_name(record_of, words_engine, tmp_path, seed, name):
    record = record_of(ReferenceAgent(), "E_STATUS", seed=seed)
    with pytest.raises(DemonstrationError, match=rf"seed {seed} belongs to {name}.*dev: 0 to 99, test: 10000 to 10199"):
        export([record], words_engine, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    made = export([record], words_engine, tmp_path / "out", Choice(allow_held=True))
    assert sum(made.tally.rows.values()) == 1


def test_the_seeds_next_to_them_are_not():
    refuse_held([DEV[-1] + 1, TEST[0] - 1, TEST[-1] + 1])


@pytest.mark.parametrize(
    ("choice", "left_out"),
    [
        (Choice(), {Reason.NOT_CORRECT: 2, Reason.INVALID: 1}),
        (Choice(only="answered"), {Reason.LOW_TOTAL: 2, Reason.INVALID: 1}),
        (Choice(only="answered", min_total=-1), {Reason.NO_ANSWER: 1, Reason.INVALID: 1}),
        (Choice(agent="script", only="answered", min_total=-1),
         {Reason.OTHER_AGENT: 16, Reason.NO_ANSWER: 1, Reason.INVALID: 1}),
        (Choice(per_cell=1), {Reason.NOT_CORRECT: 2, Reason.INVALID: 1}),
    ],
)  # fmt: skip
def test_only_what_was_chosen_is_taken(all_records, scripted, words_engine, tmp_path, choice, left_out):
    bad = [
        scripted("E_CART", {"answer": {}}),
        scripted("E_CART", "Hello."),
        scripted("E_CART", {"tool_calls": [{"name": "fly"}]}),
    ]
    made = export([*all_records, *bad], words_engine, tmp_path / "out", choice)
    assert made.tally.left_out == left_out
    assert sum(made.tally.rows.values()) == len(all_records) + len(bad) - sum(left_out.values())


def test_long_chats_are_left_out_and_one_just_short_enough_is_not(all_records, words_engine, tmp_path):
    lengths = sorted(demonstrate(record, words_engine).characters for record in all_records[:8])
    made = export(all_records[:8], words_engine, tmp_path / "out", Choice(max_characters=lengths[4]))
    assert made.tally.left_out == {Reason.TOO_LONG: 3}
    kept = sorted(length for one in made.tally.environments.values() for length in one.characters)
    assert kept == lengths[:5]


def test_a_cell_takes_no_more_than_it_may(record_of, words_engine, tmp_path):
    records = [record_of(ReferenceAgent(), "E_STATUS", seed, d) for d in (0, 1) for seed in range(20010, 20014)]
    made = export(records, words_engine, tmp_path / "out", Choice(per_cell=3))
    assert made.tally.environments["E_STATUS"].by_difficulty == {0: 3, 1: 3}
    assert made.tally.left_out == {Reason.FULL: 2}


@pytest.mark.parametrize(
    "change",
    [{"reward": {}}, {"reward": {"total": "1", "correct": True, "reason": ""}}, {"difficulty": "7"}, {"seed": 5.0},
     {"env_id": None}, {"player": {"name": 3}}, {"player": {"name": "\ud800"}}, {"episode_id": ["x"]}],
)  # fmt: skip
def test_what_is_no_whole_record_is_left_out_and_the_rest_goes_on(cart_record, words_engine, tmp_path, change):
    made = export([cart_record | change, cart_record], words_engine, tmp_path / "out")
    assert made.tally.left_out == {Reason.NO_RECORD: 1}


def test_files_are_read_line_by_line_and_a_torn_one_is_counted(cart_record, words_engine, tmp_path):
    (tmp_path / "runs").mkdir()
    line = json.dumps(cart_record)
    (tmp_path / "runs" / "a.jsonl").write_text(line + "\n" + line[:-20], encoding="utf-8")
    made = export(stored([tmp_path / "runs"]), words_engine, tmp_path / "out")
    assert made.tally.left_out == {Reason.UNREADABLE: 1}
    assert "a.jsonl, line 2" in made.tally.examples[Reason.UNREADABLE]


def test_playing_on_the_spot_gives_the_same_bytes_each_time(words_engine, tmp_path):
    def files(name):
        sources = played(words_engine, ReferenceAgent(), ["E_STATUS", "E_POLICY"], [0, 3], [20005, 20006])
        folder = export(sources, words_engine, tmp_path / name, command="one").folder
        return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    assert files("one") == files("two")


# --- the folder ------------------------------------------------------------------------------------------------------


def broken(records):
    yield from records
    raise RuntimeError("out of luck")


def test_an_export_that_fails_leaves_nothing(all_records, words_engine, tmp_path):
    with pytest.raises(RuntimeError, match="out of luck"):
        export(broken(all_records[:2]), words_engine, tmp_path / "deep" / "out")
    assert list((tmp_path / "deep").iterdir()) == []


def test_an_export_replaces_an_earlier_one_only_if_told_to_and_only_when_it_is_whole(
    all_records, words_engine, tmp_path, load
):
    out = tmp_path / "out"
    out.mkdir()
    export(all_records[:2], words_engine, out)
    with pytest.raises(DemonstrationError, match="is not empty"):
        export(all_records[:4], words_engine, out)
    with pytest.raises(RuntimeError):
        export(broken(all_records[:4]), words_engine, out, overwrite=True)
    assert len(rows_of(load(out))) == 2
    export(all_records[:4], words_engine, out, overwrite=True)
    assert len(rows_of(load(out))) == 4
    export(all_records[:4], words_engine, out, Choice(talk="text"), overwrite=True)
    assert "ask_user" not in {name for row in rows_of(load(out)) for turn in row["messages"] for name in names(turn)}
    assert {path.name for path in tmp_path.iterdir()} == {"out", "cache"}


@pytest.mark.parametrize("name", ["thesis.tex", "data/notes.txt"])
def test_what_is_no_export_is_never_replaced(all_records, words_engine, tmp_path, name):
    file = tmp_path / "out" / name
    file.parent.mkdir(parents=True)
    file.write_text("dear", encoding="utf-8")
    with pytest.raises(DemonstrationError, match=re.escape(file.name)):
        export(all_records[:2], words_engine, tmp_path / "out", overwrite=True)
    with pytest.raises(DemonstrationError, match="is a file"):
        export(all_records[:2], words_engine, file)
    assert file.read_text(encoding="utf-8") == "dear"


def test_nothing_to_export_is_an_error_that_says_why(cart_record, words_engine, tmp_path):
    cart_record["seed"] = 20002
    with pytest.raises(DemonstrationError, match=r"1 like E_CART.* does not replay"):
        export([cart_record, LeftOutError(Reason.UNREADABLE, "x")], words_engine, tmp_path / "out")
    with pytest.raises(DemonstrationError, match="no trajectory was found"):
        export([], words_engine, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_split_without_rows_has_no_file(all_records, words_engine, tmp_path, load):
    made = export(all_records[:2], words_engine, tmp_path / "out", Choice(test_share=0))
    assert [path.name for path in (made.folder / "data").iterdir()] == ["train-00000-of-00001.parquet"]
    assert set(load(made.folder)) == {"train"}


@pytest.mark.parametrize("options", [{"test_share": 1.5}, {"test_share": float("nan")}, {"per_cell": 0}])
def test_choices_out_of_range_are_refused(options):
    with pytest.raises(DemonstrationError):
        Choice(**options)
