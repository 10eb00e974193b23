"""A real `GRPOTrainer` takes steps in our environments: schemas, turns and rewards survive its loop."""

import importlib.util
import json

import pytest

from ecomrlve.adapters.trl import environment_factories, episode_reward, training_rows
from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.collections import COLLECTIONS
from ecomrlve.environment import Environment

if not all(importlib.util.find_spec(name) for name in ("trl", "accelerate")):
    pytest.skip("TRL is not installed", allow_module_level=True)

SEED = 20_001
NAMES = ("E_CART", "E_STATUS")


@pytest.fixture(scope="module")
def tiny():
    """The folder of a Qwen3 with random weights; the document's example uses the same."""
    from ecomrlve.agents.tiny_model import build, default_folder

    return build(default_folder())


@pytest.fixture
def train(tiny, words_engine, tmp_path, monkeypatch):
    """Trains, and gives back the trainer. What the model puts out is written for it."""
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer

    monkeypatch.setenv("TRL_EXPERIMENTAL_SILENCE", "1")

    def run(scripts, **options):
        tokenizer = AutoTokenizer.from_pretrained(tiny)
        args = GRPOConfig(
            output_dir=str(tmp_path / "out"), per_device_train_batch_size=4, num_generations=2, loss_type="dapo",
            beta=0.0, logging_steps=1, report_to="none", save_strategy="no", use_cpu=True, bf16=False,
            disable_tqdm=True, shuffle_dataset=False, chat_template_kwargs={"enable_thinking": False}, **options,
        )  # fmt: skip
        trainer = GRPOTrainer(
            model=AutoModelForCausalLM.from_pretrained(tiny),
            args=args,
            train_dataset=training_rows(NAMES, [0], [SEED], catalog=words_engine),
            processing_class=tokenizer,
            environment_factory=environment_factories(NAMES, catalog=words_engine),
            reward_funcs=[episode_reward],
        )
        monkeypatch.setattr(trainer, "_generate_single_turn", Scripts(tokenizer, scripts))
        trainer.train()
        return trainer

    return run


class Scripts:
    """Stands in for generation: each rollout puts out its own texts, one after the other."""

    def __init__(self, tokenizer, scripts):
        self.tokenizer = tokenizer
        self.running = [list(script) for script in scripts]

    def __call__(self, prompt_ids, *args, **kwargs):
        assert len(prompt_ids) == len(self.running)
        texts = [script.pop(0) for script in self.running]
        self.running = [script for script in self.running if script]
        return [self.tokenizer(f"{text}<|im_end|>", add_special_tokens=False)["input_ids"] for text in texts], None


def written(action):
    """A turn of the reference agent as a Qwen3 writes it."""
    calls = [(call["name"], call["args"]) for call in action.get("tool_calls", ())]
    if action.get("assistant_message"):
        calls.append(("ask_user", {"question": action["assistant_message"]}))
    if "answer" in action:
        calls.append(("submit_answer", action["answer"]))
    objects = [json.dumps({"name": name, "arguments": arguments}) for name, arguments in calls]
    return "\n".join(f"<tool_call>\n{text}\n</tool_call>" for text in objects)


def reference_texts(env_id, engine):
    """What a model has to put out to play as the reference agent does, and the reward of that."""
    env, agent, texts = Environment((env_id,), engine), ReferenceAgent(), []
    observation, _ = env.reset(seed=SEED)
    agent.reset(env)
    while not env.episode.over:
        action = agent.act(observation)
        texts.append(written(action))
        observation = env.step(action)[0]
    return texts, env.episode.reward


def logged(trainer, name):
    return [entry[name] for entry in trainer.state.log_history if name in entry]


def offered(schema):
    """A schema as far as both ways to make one say it."""
    if isinstance(schema, list):
        return [offered(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: offered(value) for key, value in schema.items()}
    for key in ("default", "additionalProperties", "maxItems", "done"):
        kept.pop(key, None)
    if "anyOf" in kept:
        kept["type"] = [option["type"] for option in kept.pop("anyOf")]
    if isinstance(kept.get("type"), list):
        kept["type"] = sorted(kept["type"])
    return kept if kept.get("required") != [] else {key: kept[key] for key in kept if key != "required"}


@pytest.mark.parametrize("env_id", COLLECTIONS["C8"])
def test_a_model_is_shown_the_tools_that_every_agent_is_offered(env_id, words_engine):
    from transformers.utils import get_json_schema

    instance = environment_factories(env_id, catalog=words_engine)[env_id]()
    tools = Environment((env_id,), words_engine).reset(seed=1)[0].tools
    names = [tool["function"]["name"] for tool in tools]
    assert sorted(names) == sorted(
        name for name in vars(type(instance)) if not name.startswith("_") and name != "env_id"
    )
    for tool in tools:
        shown = get_json_schema(getattr(instance, tool["function"]["name"]))
        assert offered(shown) == offered(tool)


def test_the_trainer_gets_the_engines_rewards(train, words_engine):
    scripts, totals = [], []
    for env_id in NAMES:
        texts, reward = reference_texts(env_id, words_engine)
        assert reward.correct
        scripts += [[*texts, "Goodbye!"], ['<tool_call>\n{"name": "submit_answer"']]
        totals += [reward.total, -1.0]
    trainer = train(scripts, max_steps=1, max_completion_length=4000)
    assert logged(trainer, "reward") == [pytest.approx(sum(totals) / 4)]
    assert logged(trainer, "E_CART/reward") == [pytest.approx(sum(totals[:2]) / 2)]
    assert logged(trainer, "E_CART/correct") == logged(trainer, "E_STATUS/correct") == [0.5]
    assert logged(trainer, "tools/failure_frequency") == [0]
    assert logged(trainer, "reward_std")[0] > 0.5
