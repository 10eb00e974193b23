"""Texts go in, chat messages and the engine's reward come out: as SkyRL plays it, and without SkyRL."""

import importlib.util
import json

import pytest

from ecomrlve.adapters import _episodes
from ecomrlve.adapters._text_episode import TextEpisode
from ecomrlve.adapters._text_rows import rows, write_rows
from ecomrlve.agents.base import play
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.collections import COLLECTIONS
from ecomrlve.environment import Environment
from ecomrlve.errors import EpisodeNotRunningError, OptionError, SeedError, UnknownEnvironmentError

SEED = 20_001
ALL = COLLECTIONS["C8"]
INSTALLED = importlib.util.find_spec("skyrl_gym") is not None
needs_skyrl = pytest.mark.skipif(not INSTALLED, reason="skyrl-gym is not installed; scripts/skyrl_environment.sh does")


@pytest.fixture
def episode(words_engine):
    """A text episode, and the messages it begins with."""

    def make(env_id="E_CART", seed=SEED, difficulty=0, dialect="hermes", **extras):
        which = {"env_id": env_id, "difficulty": difficulty, "seed": seed, **extras}
        made = TextEpisode(which, words_engine, dialect)
        messages, _ = made.begin()
        return made, messages

    return make


class Recorder(ReferenceAgent):
    """The reference agent; remembers what it did and saw."""

    def reset(self, env):
        super().reset(env)
        self.actions, self.seen = [], []

    def act(self, observation):
        action = super().act(observation)
        self.actions.append(action)
        self.seen.append(observation)
        return action


def hermes(action):
    """A turn of the reference agent as a model writes it."""
    calls = [(call["name"], call["args"]) for call in action.get("tool_calls", ())]
    if "answer" in action:
        calls.append(("submit_answer", action["answer"]))
    blocks = [f"<tool_call>\n{json.dumps({'name': n, 'arguments': a})}\n</tool_call>" for n, a in calls]
    return "\n".join(filter(None, [action.get("assistant_message"), *blocks]))


@pytest.fixture(scope="module")
def reference(words_engine):
    """Plays as the reference agent; gives its texts in a dialect, what it saw, and the engine's reward."""

    def run(env_id, difficulty, dialect="hermes"):
        agent = Recorder()
        reward = play(Environment((env_id,), words_engine), agent, SEED, difficulty)
        return (
            [hermes(action) if dialect == "hermes" else json.dumps(action) for action in agent.actions],
            agent,
            reward,
        )

    return run


def everything_said(observation, messages):
    """Whether all that an agent in Python sees stands in the messages."""
    told = "\n".join(message["content"] for message in messages)
    wanted = [
        json.dumps(message["result"], ensure_ascii=False) if message["role"] == "tool" else message["content"]
        for message in observation.messages
    ]
    return all(text in told for text in wanted)


# --- turns and rewards -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("difficulty", "dialect"), [(0, "json"), (12, "hermes")])
@pytest.mark.parametrize("env_id", ALL)
def test_the_reference_plan_gets_the_engines_reward(env_id, difficulty, dialect, reference, episode):
    texts, agent, expected = reference(env_id, difficulty, dialect)
    made, messages = episode(env_id, difficulty=difficulty, dialect=dialect)
    assert everything_said(agent.seen[0], messages)
    for number, text in enumerate(texts):
        step = made.step(text)
        last = number == len(texts) - 1
        assert step.done == last
        assert (step.reward == 0.0) or last
        assert all(isinstance(value, str) for message in step.messages for value in message.values())
        if not last:
            assert everything_said(agent.seen[number + 1], step.messages)
            assert "correct" not in step.facts
    assert step.reward == expected.total
    assert step.facts["correct"]
    assert step.facts["parts"] == expected.parts
    assert (step.facts["env_id"], step.facts["difficulty"], step.facts["seed"]) == (env_id, difficulty, SEED)


def test_the_model_is_told_its_tools_and_how_many_turns_are_left(episode):
    _, (system, user) = episode("E_CART")
    assert '"name": "cart_add"' in system["content"]
    assert "<tool_call>" in system["content"]
    assert user["role"] == "user"
    assert user["content"].endswith("[turns left: 4]")
    _, (system, _) = episode("E_CART", dialect="json")
    assert "- cart_add(product_id, variant_id?, qty?)" in system["content"]
    assert "<tool_call>" not in system["content"]


def test_results_of_calls_are_tool_messages_and_words_are_a_customers(episode):
    made, _ = episode("E_CART", difficulty=6)
    step = made.step('<tool_call>\n{"name": "cart_view", "arguments": {}}\n</tool_call>')
    assert [(message["role"], message.get("name")) for message in step.messages] == [("tool", "cart_view")]
    step = made.step("<think>\nWhat next?\n</think>\n\nWhat do you need?")
    assert [message["role"] for message in step.messages] == ["user"]


@pytest.mark.parametrize("text", ['<tool_call>\n{"name": "cart_add"', "", '{"answer": 3}', "<think> for ever"])
def test_text_that_is_no_action_costs_everything(text, episode):
    made, _ = episode()
    step = made.step(text)
    assert (step.reward, step.done, step.facts["correct"]) == (-1.0, True, False)
    assert step.facts["reason"].startswith("Invalid output")
    assert made.metrics()["invalid"] == 1.0
    with pytest.raises(EpisodeNotRunningError):
        made.step("hello?")


def test_a_limit_on_turns_ends_an_episode_as_silence_does(episode, words_engine):
    env = Environment(("E_STATUS",), words_engine)
    env.reset(seed=SEED, options={"difficulty": 6})
    env.step("Let me see.")
    while not env.episode.over:
        env.step({"answer": {"done": False}})
    made, _ = episode("E_STATUS", difficulty=6, max_turns=2)
    assert not made.step("Let me see.").done
    step = made.step('{"answer": {"done": false}}')
    assert step.done
    assert step.reward == env.episode.reward.total < 0
    made, _ = episode("E_STATUS", difficulty=6, max_turns=100)
    assert not made.step("Let me see.").done


def test_metrics_tell_what_became_of_an_episode(episode, reference):
    made, _ = episode("E_PD", difficulty=3)
    made.step("What do you need?")
    unfinished = made.metrics()
    assert unfinished["finished"] == unfinished["correct"] == unfinished["E_PD/correct"] == 0.0
    assert unfinished["turns"] == 1.0
    texts, _, expected = reference("E_PD", 3)
    made, _ = episode("E_PD", difficulty=3)
    for text in texts:
        made.step(text)
    assert made.metrics() == {
        "reward": expected.total, "correct": 1.0, "finished": 1.0, "invalid": 0.0, "turns": float(len(texts)),
        "difficulty": 3.0, "E_PD/reward": expected.total, "E_PD/correct": 1.0,
    }  # fmt: skip


def test_extras_may_be_json_and_overrides_too(episode, words_engine):
    _, messages = episode("E_STATUS", difficulty=4, overrides='{"turn_budget": 9}')
    extras = {"env_id": "E_STATUS", "difficulty": 4, "seed": SEED, "overrides": {"turn_budget": 9, "noise": None}}
    assert TextEpisode(json.dumps(extras), words_engine).begin()[0] == messages
    assert messages[1]["content"].endswith("[turns left: 9]")


@pytest.mark.parametrize(
    ("extras", "message"),
    [({"seed": 1}, "env_id"), ({"env_id": "E_CART"}, "seed"), ("[]", "extras"), ("{", "extras")],
)
def test_extras_that_name_no_episode_are_refused(extras, message, words_engine):
    with pytest.raises(OptionError, match=message):
        TextEpisode(extras, words_engine)


def test_unknown_names_are_refused(words_engine):
    with pytest.raises(UnknownEnvironmentError):
        TextEpisode({"env_id": "E_PIZZA", "seed": 1}, words_engine)
    with pytest.raises(OptionError, match="native"):
        TextEpisode({"env_id": "E_CART", "seed": 1}, words_engine, "native")


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["train.parquet", "train.jsonl"])
def test_rows_come_back_from_a_file_as_extras_of_the_same_episodes(name, tmp_path, words_engine, episode):
    written = write_rows(tmp_path / "data" / name, rows("E_CART,E_PD", (0, 3), (100, 2**62), catalog=words_engine))
    if name.endswith("parquet"):
        import pyarrow.parquet

        loaded = pyarrow.parquet.read_table(written).to_pylist()
    else:
        loaded = [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()]
    assert len(loaded) == 8
    assert [path.name for path in written.parent.iterdir()] == [name]
    for row in loaded:
        _, messages = episode(row["env_id"], row["seed"], row["difficulty"])
        assert row["prompt"] == messages
        assert (row["env_class"], row["data_source"]) == ("ecomrlve", row["env_id"])


def test_seeds_that_are_held_back_are_for_validation_only(words_engine):
    with pytest.raises(SeedError, match="held=True"):
        list(rows("C1", [0], [10_000], catalog=words_engine))
    assert len(list(rows("C1", [0], [10_000], catalog=words_engine, held=True))) == 1


def test_files_that_skyrl_cannot_read_are_not_written(tmp_path, words_engine):
    with pytest.raises(OptionError, match="csv"):
        write_rows(tmp_path / "rows.csv", rows("C1", [0], [100], catalog=words_engine))
    with pytest.raises(OptionError, match="no rows"):
        write_rows(tmp_path / "rows.parquet", rows("C1", [0], [], catalog=words_engine))
    assert list(tmp_path.iterdir()) == []


# --- with SkyRL ------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(INSTALLED, reason="skyrl-gym is installed")
def test_without_skyrl_the_error_says_what_to_install():
    from ecomrlve.errors import EcomrlveError

    with pytest.raises(EcomrlveError, match=r"pip install skyrl-gym==0\.4\.0"):
        importlib.import_module("ecomrlve.adapters.skyrl")


@pytest.fixture
def registered(words_engine, monkeypatch):
    """The environment under its name, over the words engine; the registry is put back afterwards."""
    from skyrl_gym.envs.registration import registry

    from ecomrlve.adapters.skyrl import register

    monkeypatch.setitem(_episodes._engines, ("default", True), words_engine)
    register(words_only=True)
    yield
    del registry["ecomrlve"]


def rollout(row, texts, max_turns=50):
    """One rollout as SkyRL's generator makes it: extras are the row's other columns."""
    import skyrl_gym

    extras = {key: value for key, value in row.items() if key not in ("prompt", "env_class")}
    env = skyrl_gym.make(row["env_class"], env_config={}, extras=extras | {"max_turns": max_turns})
    prompt, _ = env.init(row["prompt"])
    steps = []
    for text in texts:
        steps.append(env.step(text))
        if steps[-1]["done"]:
            break
    env.close()
    return env, prompt, steps


@needs_skyrl
@pytest.mark.parametrize("env_id", ALL)
def test_skyrl_plays_the_reference_plan(env_id, registered, reference, words_engine):
    (row,) = rows(env_id, [6], [SEED], catalog=words_engine)
    texts, _, expected = reference(env_id, 6)
    env, prompt, steps = rollout(row, texts)
    assert prompt == row["prompt"]
    assert sum(step["reward"] for step in steps) == expected.total
    assert steps[-1]["metadata"]["correct"]
    assert [step["done"] for step in steps] == [False] * (len(texts) - 1) + [True]
    assert env.turns == len(texts)


@needs_skyrl
def test_skyrl_averages_the_metrics(registered, reference, words_engine):
    from skyrl_gym.metrics import aggregate_for_environment

    cart, page = (next(rows(env_id, [0], [SEED], catalog=words_engine)) for env_id in ("E_CART", "E_PD"))
    done = [rollout(cart, reference("E_CART", 0)[0]), rollout(page, ["<tool_call>"]), rollout(cart, ["Hello!"], 1)]
    found = aggregate_for_environment("ecomrlve", [env.get_metrics() for env, _, _ in done])
    assert found["correct"] == pytest.approx(1 / 3)
    assert found["E_CART/correct"] == 0.5
    assert found["E_PD/reward"] == -1.0
    assert found["finished"] == 1.0
    assert found["invalid"] == pytest.approx(1 / 3)


@needs_skyrl
def test_unknown_settings_are_refused():
    from ecomrlve.adapters.skyrl import register

    with pytest.raises(OptionError, match="dialog"):
        register(dialog="json")
