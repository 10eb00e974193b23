"""Trajectories: stored one line each, read back whatever became of the file, and re-executed to the same bytes."""

import copy
import json
import multiprocessing
import os

import pytest

from ecomrlve.agents.base import play
from ecomrlve.agents.baselines import RandomAgent
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.catalog.search import SearchEngine
from ecomrlve.catalog.synthetic import generate
from ecomrlve.environment import Environment
from ecomrlve.errors import TrajectoryError
from ecomrlve.replay import TrajectoryStore, first_difference, load_trajectories, replay, verify
from ecomrlve.trajectory import SCHEMA, stable

BOTH = ("E_CART", "E_PD")
SEARCH = {"name": "catalog_search", "args": {"query": "lamp", "limit": 3}}


class Garbage:
    """Talks nonsense, calls with nonsense, and at last puts out what is no action."""

    name = "garbage"
    LINES = (
        "Grüße 🙂 \u202e שלום \x00 which color?",
        {"tool_calls": [{"name": "catalog_search", "args": {"query": "\x00", "filters": {"no": [{"a": 1}]}}}]},
        '<tool_call>{"name": "catalog_search", "arguments": {"query": "", "limit": -5, "page": 2}}</tool_call>',
        {"answer": {"done": False, "x": [{}]}, "reasoning": None},
        {"role": "assistant", "content": '{"tool_calls": ['},
    )

    def reset(self, env):
        self.turn = env.episode.seed % 3

    def act(self, observation):
        self.turn += 1
        return copy.deepcopy(self.LINES[min(self.turn, 5) - 1])


def played(engine, agent, env_id, seed=5, d=6, overrides=None):
    """A finished episode's record, as it comes back from a file."""
    env = Environment((env_id,), engine)
    play(env, agent(), seed, d, overrides)
    return json.loads(env.trajectory("tester", "agent").to_json())


@pytest.fixture(scope="module")
def reference_record(words_engine):
    """An E_PD episode with several turns, tool results and replies. Tests change copies of it."""
    data = played(words_engine, ReferenceAgent, "E_PD", seed=3, d=8)
    assert len(data["steps"]) >= 3
    return data


@pytest.fixture
def record(reference_record):
    return copy.deepcopy(reference_record)


@pytest.fixture(scope="module")
def other_engine():
    """A small catalog that is not the default one."""
    return SearchEngine(generate(1000, seed=9))


# --- storing ---------------------------------------------------------------------------------------------------------


def test_what_is_stored_is_read_back(tmp_path, words_engine):
    records = [played(words_engine, ReferenceAgent, env_id, seed) for env_id in BOTH for seed in (1, 2)]
    store = TrajectoryStore(tmp_path / "deep" / "folder")
    paths = {store.append(data) for data in records}
    assert len(paths) == 1
    (path,) = paths
    assert path.name.startswith("traj-")
    assert path.suffix == ".jsonl"
    assert len(path.read_text(encoding="utf-8").splitlines()) == 4
    assert load_trajectories(path) == (records, [])
    assert load_trajectories(tmp_path / "deep" / "folder") == (records, [])


def test_each_episode_is_on_the_disk_before_append_returns(tmp_path, record):
    store = TrajectoryStore(tmp_path)
    for count in (1, 2, 3):
        path = store.append(record)
        assert len(load_trajectories(path)[0]) == count


def test_stores_write_to_files_of_their_own(tmp_path, record):
    stores = [TrajectoryStore(tmp_path) for _ in range(3)]
    for store in stores * 2:
        store.append(record)
    assert len(list(tmp_path.glob("traj-*.jsonl"))) == 3
    assert len(load_trajectories(tmp_path)[0]) == 6


def append_elsewhere(store, record):
    store.append(record)


def test_a_forked_process_writes_to_a_file_of_its_own(tmp_path, record):
    store = TrajectoryStore(tmp_path)
    store.append(record)
    process = multiprocessing.get_context("fork").Process(target=append_elsewhere, args=(store, record))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert len(load_trajectories(tmp_path)[0]) == 2
    assert len(list(tmp_path.glob("*.jsonl"))) == 2


def test_a_folder_that_cannot_be_written_to_is_an_error_of_ours(tmp_path, record):
    (tmp_path / "file").write_text("")
    with pytest.raises(TrajectoryError, match="cannot write"):
        TrajectoryStore(tmp_path / "file" / "below").append(record)


@pytest.mark.parametrize(
    "action",
    [None, 5, b"x", [1], "\ud800", {1: 2}, {"assistant_message": float("nan")}, {"answer": {"a": {1, 2}}}],
    ids=ascii,
)
def test_an_episode_that_ended_with_an_impossible_action_is_stored_and_replays(tmp_path, words_engine, action):
    env = Environment(("E_PD",), words_engine)
    env.reset(seed=1)
    env.step(action)
    path = TrajectoryStore(tmp_path).append(env.trajectory().to_dict())
    ((data,), problems) = load_trajectories(path)
    assert not problems
    result = verify(data, words_engine)
    assert result.ok, result.difference


# --- loading ---------------------------------------------------------------------------------------------------------


def lines_file(tmp_path, *lines):
    path = tmp_path / "some.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_torn_last_line_is_reported_and_the_rest_read(tmp_path, record):
    whole = json.dumps(record)
    for cut in (1, len(whole) // 2, len(whole) - 1):
        found, problems = load_trajectories(lines_file(tmp_path, whole, whole, whole[:cut]))
        assert found == [record, record]
        assert len(problems) == 1
        assert "some.jsonl, line 3" in problems[0]
        assert "torn" in problems[0]


def test_a_line_torn_inside_a_letter_is_no_worse_than_any_other(tmp_path, record):
    line = (json.dumps(record | {"player": {"name": "Zoë"}}, ensure_ascii=False) + "\n").encode()
    path = tmp_path / "some.jsonl"
    path.write_bytes(line + line[: line.index("ë".encode()) + 1])
    found, problems = load_trajectories(path)
    assert (len(found), len(problems)) == (1, 1)


SKIPPED = {
    "not JSON": ("hello", "JSON"),
    "an array": ("[1, 2]", "not a trajectory"),
    "a number": ("3", "not a trajectory"),
    "another object": ('{"a": 1}', "not a trajectory"),
    "deep nesting": ("[" * 100_000, "JSON"),
}


@pytest.mark.parametrize(("line", "reason"), SKIPPED.values(), ids=SKIPPED.keys())
def test_what_is_no_trajectory_is_skipped_and_named(tmp_path, record, line, reason):
    found, problems = load_trajectories(lines_file(tmp_path, json.dumps(record), line, json.dumps(record)))
    assert found == [record, record]
    assert len(problems) == 1
    assert "line 2" in problems[0]
    assert reason in problems[0]


@pytest.mark.parametrize("version", [SCHEMA + 1, 0, "1", None])
def test_another_schema_version_is_skipped_and_named(tmp_path, record, version):
    found, problems = load_trajectories(lines_file(tmp_path, json.dumps(record | {"schema": version})))
    assert found == []
    assert repr(version) in problems[0]
    assert str(SCHEMA) in problems[0]


@pytest.mark.parametrize("key", ["env_id", "difficulty", "overrides", "seed", "catalog", "steps", "reward"])
def test_a_record_that_lacks_something_is_skipped_and_the_key_is_named(tmp_path, record, key):
    del record[key]
    found, problems = load_trajectories(lines_file(tmp_path, json.dumps(record)))
    assert found == []
    assert key in problems[0]


@pytest.mark.parametrize(
    ("key", "value"),
    [("steps", {}), ("steps", [1]), ("steps", [{"turn": 1}]), ("reward", 0.5), ("overrides", []), ("catalog", "x"),
     ("env_id", 5)],
    ids=str,
)  # fmt: skip
def test_a_record_of_the_wrong_shape_is_skipped(tmp_path, record, key, value):
    record[key] = value
    found, problems = load_trajectories(lines_file(tmp_path, json.dumps(record)))
    assert found == []
    assert len(problems) == 1


@pytest.mark.parametrize("what", ["player", "deep"])
def test_a_strange_record_is_refused_or_differs_but_never_crashes(tmp_path, words_engine, record, what):
    if what == "player":
        record["player"] = "somebody"
    else:
        record["goal"] = json.loads("[" * 600 + "]" * 600)
    found, problems = load_trajectories(lines_file(tmp_path, json.dumps(record)))
    assert problems or not verify(found[0], words_engine).ok


def test_empty_files_blank_lines_and_empty_folders_hold_nothing(tmp_path, record):
    assert load_trajectories(tmp_path) == ([], [])
    assert load_trajectories(lines_file(tmp_path)) == ([], [])
    assert load_trajectories(lines_file(tmp_path, "", "  ", json.dumps(record), "", "")) == ([record], [])


def test_a_folder_is_read_in_the_order_of_its_names_and_only_jsonl(tmp_path, record):
    for name, seed in (("b.jsonl", 2), ("a.jsonl", 1), ("c.json", 3)):
        (tmp_path / name).write_text(json.dumps(record | {"seed": seed}) + "\n")
    assert [data["seed"] for data in load_trajectories(tmp_path)[0]] == [1, 2]


def test_a_missing_path_is_an_error_that_names_it(tmp_path):
    with pytest.raises(TrajectoryError, match=r"nowhere\.jsonl"):
        load_trajectories(tmp_path / "nowhere.jsonl")


def test_a_binary_file_is_an_error_that_names_it(tmp_path):
    (tmp_path / "picture.jsonl").write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe\x00" * 20)
    with pytest.raises(TrajectoryError, match=r"picture\.jsonl"):
        load_trajectories(tmp_path / "picture.jsonl")


def test_datasets_loads_what_is_stored(tmp_path, words_engine):
    datasets = pytest.importorskip("datasets")
    store = TrajectoryStore(tmp_path / "runs")
    records = [played(words_engine, agent, e, 4) for agent in (ReferenceAgent, RandomAgent) for e in BOTH]
    for data in records:
        path = store.append(data)
    table = datasets.load_dataset("json", data_files=str(path), split="train", cache_dir=str(tmp_path / "cache"))
    assert table["env_id"] == [data["env_id"] for data in records]
    assert [reward["total"] for reward in table["reward"]] == [data["reward"]["total"] for data in records]
    assert [len(steps) for steps in table["steps"]] == [len(data["steps"]) for data in records]


# --- re-executing ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [0, 4, 8, 12])
@pytest.mark.parametrize("env_id", BOTH)
@pytest.mark.parametrize("agent", [ReferenceAgent, RandomAgent, Garbage], ids=lambda agent: agent.__name__)
def test_every_kind_of_episode_replays_to_the_same_bytes(words_engine, agent, env_id, d):
    for seed in (1, 2, 3):
        data = played(words_engine, agent, env_id, seed, d)
        result = verify(data, words_engine)
        assert result.ok, result.difference
        again = replay(data, words_engine)
        assert json.dumps(stable(again), sort_keys=True) == json.dumps(stable(data), sort_keys=True)
        assert again["player"] == data["player"] == {"name": "tester", "kind": "agent"}


def test_overrides_are_replayed_too(words_engine):
    data = played(words_engine, ReferenceAgent, "E_PD", 2, 6, {"turn_budget": 9, "noise": 0.2})
    assert data["overrides"] == {"turn_budget": 9, "noise": 0.2}
    assert verify(data, words_engine).ok
    del data["overrides"]["noise"]
    assert not verify(data, words_engine).ok


CANONICAL = {"assistant_message": "Which color?", "tool_calls": [SEARCH]}
DIALECTS = {
    "dict": CANONICAL,
    "text": json.dumps(CANONICAL),
    "fence": f"```json\n{json.dumps(CANONICAL)}\n```",
    "thought": f"<think>{{hm</think>{json.dumps(CANONICAL)}",
    "Hermes": "Which color?\n<tool_call>"
    + json.dumps({"name": "catalog.search", "arguments": SEARCH["args"]})
    + "</tool_call>",
    "OpenAI": {
        "role": "assistant",
        "content": "Which color?",
        "tool_calls": [
            {
                "type": "function",
                "id": "1",
                "function": {"name": SEARCH["name"], "arguments": json.dumps(SEARCH["args"])},
            }
        ],
    },
}


@pytest.mark.parametrize("form", DIALECTS.values(), ids=DIALECTS.keys())
def test_an_action_of_any_dialect_is_kept_as_sent_and_replays(words_engine, form):
    env = Environment(("E_PD",), words_engine)
    env.reset(seed=2, options={"difficulty": 4})
    env.step(copy.deepcopy(form))
    env.step("Is there anything else, please?")
    while not env.episode.over:
        env.step('{"answer": {"recommended_product_ids": []}}')
    data = json.loads(env.trajectory().to_json())
    assert data["steps"][0]["action"] == form
    assert data["steps"][0]["canonical"] == CANONICAL
    assert data["steps"][1]["canonical"] == {"assistant_message": "Is there anything else, please?"}
    assert verify(data, words_engine).ok
    plain = copy.deepcopy(data)
    for step in plain["steps"]:
        step["action"] = step["canonical"]
    assert (
        stable({"steps": replay(plain, words_engine)["steps"][:1]})["steps"][0]["tool_results"]
        == (stable({"steps": data["steps"][:1]})["steps"][0]["tool_results"])
    )


# --- what was changed is found ---------------------------------------------------------------------------------------


def first_step_with(record, key):
    return next(number for number, step in enumerate(record["steps"]) if step[key])


def test_a_changed_action_is_found(words_engine, record):
    number = first_step_with(record, "tool_results")
    record["steps"][number]["action"]["tool_calls"][0]["args"]["query"] = "something else"
    result = verify(record, words_engine)
    assert not result.ok
    assert result.difference.startswith(f"steps[{number}].canonical.tool_calls[0].args.query")
    assert "something else" in result.difference


@pytest.mark.parametrize("part", ["total", "task", "correct", "reason"])
def test_a_changed_reward_is_found(words_engine, record, part):
    record["reward"][part] = {"total": 0.9, "task": 0.5, "correct": False, "reason": "Great."}[part]
    result = verify(record, words_engine)
    assert not result.ok
    assert result.difference.startswith(f"reward.{part}: stored ")


def test_one_and_one_point_nought_are_told_apart_from_true(words_engine, record):
    assert record["reward"]["task"] == 1.0
    record["reward"]["correct"] = 1
    assert verify(record, words_engine).difference.startswith("reward.correct")


def test_a_changed_seed_is_found(words_engine, record):
    record["seed"] += 1
    result = verify(record, words_engine)
    assert not result.ok
    assert result.difference


def test_a_changed_difficulty_is_found_at_the_axes(words_engine, record):
    record["difficulty"] += 1
    result = verify(record, words_engine)
    assert not result.ok
    assert result.difference.startswith("axes.") or "cannot be replayed" in result.difference


def test_a_changed_tool_result_is_found(words_engine, record):
    number = first_step_with(record, "tool_results")
    hit = record["steps"][number]["tool_results"][0]["result"]["results"][0]
    hit["price"] = hit["price"] + 1
    result = verify(record, words_engine)
    assert not result.ok
    assert result.difference.startswith(f"steps[{number}].tool_results[0].result.results[0].price: stored ")


def test_a_changed_customer_text_is_found(words_engine, record):
    number = first_step_with(record, "customer")
    record["steps"][number]["customer"]["text"] += " Thanks!"
    result = verify(record, words_engine)
    assert not result.ok
    assert result.difference.startswith(f"steps[{number}].customer.text: stored ")
    assert verify({**record, "opening": record["opening"] | {"text": "Hi"}}, words_engine).difference.startswith(
        "opening.text"
    )


@pytest.mark.parametrize(
    "key", ["goal", "ledger", "done", "opening", "terminated", "truncated", "axes", "dropped_hazards"]
)
def test_every_part_of_the_record_counts(words_engine, record, key):
    del record[key]
    assert verify(record, words_engine).difference == f"{key} is only in the replayed one"


def test_a_missing_and_an_extra_step_are_found(words_engine, record):
    extra = copy.deepcopy(record)
    extra["steps"].append(extra["steps"][0])
    assert "over" in verify(extra, words_engine).difference
    record["steps"].pop()
    assert "running" in verify(record, words_engine).difference


def test_who_played_and_how_long_it_took_do_not_count(words_engine, record):
    record["player"] = {"name": "somebody else", "kind": "human"}
    record["episode_id"] = "x"
    record["engine"] = "0.0.0"
    record["steps"][0]["ms"] = 1e9
    assert verify(record, words_engine).ok


@pytest.mark.parametrize("key", ["engine", "player", "ms", "episode_id"])
def test_an_attribute_that_is_called_like_a_volatile_field_counts(words_engine, record, key):
    number = first_step_with(record, "tool_results")
    record["steps"][number]["tool_results"][0]["result"]["results"][0]["attributes"][key] = "forged"
    assert not verify(record, words_engine).ok


def test_a_trajectory_of_another_catalog_is_refused(other_engine, record):
    with pytest.raises(TrajectoryError, match="catalog"):
        replay(record, other_engine)
    result = verify(record, other_engine)
    assert not result.ok
    assert record["catalog"]["fingerprint"] in result.difference
    assert other_engine.catalog.fingerprint in result.difference


@pytest.mark.parametrize(
    ("key", "value"),
    [("seed", "x"), ("seed", -1), ("difficulty", 99), ("overrides", {"nope": 1}), ("steps", []), ("catalog", {}),
     ("env_id", "E_NOPE")],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_replayed_is_reported_and_no_crash(words_engine, record, key, value):
    result = verify(record | {key: value}, words_engine)
    assert not result.ok
    assert result.difference


def test_the_first_difference_is_named_in_words():
    assert first_difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}) == ""
    assert first_difference({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}) == "a[1].b: stored 2, replayed 3"
    assert first_difference({"a": 1}, {"a": 1.0}) == "a: stored 1, replayed 1.0"
    assert first_difference({"a": True}, {"a": 1}) == "a: stored true, replayed 1"
    assert first_difference([1], [1, 2]) == " has 1 entries, replayed 2"
    assert first_difference({"a": 1}, {}) == "a is only in the stored one"
    assert len(first_difference("x" * 10_000, "y" * 10_000)) < 250


def test_replaying_needs_nothing_of_the_process_that_played(tmp_path, words_engine, record):
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + os.linesep, encoding="utf-8")
    ((data,), _) = load_trajectories(tmp_path)
    before = copy.deepcopy(data)
    assert verify(data, SearchEngine(words_engine.catalog)).ok
    assert data == before
