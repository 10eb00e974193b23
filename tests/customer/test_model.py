"""A language model chooses the customer's words: only words that say the same are used, and nothing it does harms."""

from __future__ import annotations

import json
import re
import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecomrlve.agents.reference import ReferenceAgent
from ecomrlve.agents.slipping import SlippingAgent
from ecomrlve.customer.dialogue import Customer
from ecomrlve.customer.grammar import ACTS, Grammar
from ecomrlve.customer.ledger import Slot
from ecomrlve.customer.model import EndpointModel, LocalModel, ModelError
from ecomrlve.customer.model_check import objections
from ecomrlve.customer.model_grammar import FAILURES_BEFORE_PAUSE, PAUSE, ModelGrammar, PhraseCache
from ecomrlve.customer.model_prompt import messages, names_in
from ecomrlve.customer.model_text import plain
from ecomrlve.customer.wording import STYLES
from ecomrlve.environment import Environment
from ecomrlve.streams import Stream

ENVIRONMENTS = ("E_PD", "E_CART", "E_SUB", "E_RETURN", "E_STATUS", "E_POLICY", "E_BUNDLE", "E_JOURNEY")

TYPE = Slot("type", "type", "type", "eq", "air fryer")
PRICE = Slot("price", "constraint", "price", "le", 25, label="price", unit="$")
RATING = Slot("rating", "constraint", "rating", "ge", 4, label="rating", unit="stars")
COLOR = Slot("color", "constraint", "color", "eq", "black", label="color", choices=("black", "white", "red"))
WATTS = Slot("power", "constraint", "power", "ge", 900, label="power", unit="W")
SLOTS = (TYPE, PRICE, RATING)
WITHHELD = (COLOR, WATTS)
DRAFT = "I'm looking for an air fryer under $25. It should be rated at least 4 stars."
RIGHT = "An air fryer for $25 at most is what I'm after, and it needs a rating of 4 stars or better."
WRONG_VALUE = RIGHT.replace("$25", "$35")
MISSING = "An air fryer for $25 at most is what I'm after."
TELLS = f"{RIGHT} Black would be nice."
INVENTS = f"{RIGHT} It has to be waterproof."


def stream(seed: int = 0) -> Stream:
    return Stream("test", seed)


class Fixed(Grammar):
    """A grammar of one sentence, so that a test knows the draft."""

    def __init__(self, draft: str = DRAFT):
        self._draft = draft

    def say(self, *args: Any, **kwargs: Any) -> str:
        return self._draft


class Fake:
    """A model in this process: its answers in turn, the last for ever; an exception is raised."""

    name = "fake"

    def __init__(self, *answers: Any):
        self._answers = list(answers)
        self.calls: list[tuple[list[dict[str, str]], int]] = []
        self._lock = threading.Lock()

    def complete(self, chat: list[dict[str, str]], seed: int) -> str:
        with self._lock:
            self.calls.append((chat, seed))
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer(chat) if callable(answer) else answer


def draft_in(chat: list[dict[str, str]]) -> str:
    """The draft that a prompt shows as its example."""
    found = re.search(r"as an example:\n(.*)\nSay the same", chat[0]["content"], re.DOTALL)
    assert found
    return found[1]


def say(grammar: Grammar, seed: int = 0, **more: Any) -> str:
    assert isinstance(grammar, ModelGrammar)
    return grammar.say("open", "E_PD", SLOTS, stream(seed), context={"style": "chatty"}, withheld=WITHHELD, **more)


def made(model: Any, draft: str = DRAFT, **more: Any) -> tuple[ModelGrammar, list[float]]:
    """A grammar over a model, and the waits that it asks for."""
    waits: list[float] = []
    return ModelGrammar(model, grammar=Fixed(draft), sleep=waits.append, **more), waits


# --- an endpoint


class Stub:
    """A server that answers as it is told: a text, or a function that is given the handler."""

    def __init__(self) -> None:
        self.answers: list[Any] = [RIGHT]
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.released = threading.Event()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                assert self.path == "/v1/chat/completions"
                stub.requests.append(body)
                stub.keys.append(self.headers.get("Authorization"))
                answer = stub.answers.pop(0) if len(stub.answers) > 1 else stub.answers[0]
                if callable(answer):
                    answer(self)
                else:
                    respond(self, completion(answer))

            def log_message(self, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


def completion(text: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"id": "x", "model": "stub", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}


def respond(handler: BaseHTTPRequestHandler, body: Any, status: int = 200, **headers: str) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(data)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    # The tests forbid the client all servers, which goes for this machine's own as well. With its telemetry it asks
    # the hub, too, for what it tells about itself.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY", True)
    made = Stub()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.released.set()
    made.server.shutdown()
    made.server.server_close()
    thread.join()


def endpoint(stub: Stub, **more: Any) -> EndpointModel:
    return EndpointModel("stub", base_url=stub.url, **{"timeout": 10.0, **more})


def test_words_of_an_endpoint_that_say_the_same_are_said(stub: Stub) -> None:
    grammar, waits = made(endpoint(stub, api_key="secret", temperature=0.5, max_tokens=99))
    assert say(grammar) == RIGHT
    assert (grammar.counts.utterances, grammar.counts.by_model, grammar.counts.fell_back) == (1, 1, 0)
    assert not waits
    (request,) = stub.requests
    after_draft = stream()
    assert request["seed"] == after_draft.integer(2**31)
    assert (request["model"], request["temperature"], request["max_tokens"]) == ("stub", 0.5, 99)
    assert [message["role"] for message in request["messages"]] == ["user"]
    assert stub.keys == ["Bearer secret"]


def test_a_server_of_ones_own_is_not_sent_the_login_of_the_hub(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_login")
    say(made(endpoint(stub))[0])
    assert stub.keys == ["Bearer none"]


@pytest.mark.parametrize("text", [WRONG_VALUE, MISSING, TELLS, INVENTS])
def test_words_that_do_not_say_the_same_are_asked_for_twice_more_and_then_the_draft_is_said(
    stub: Stub, text: str
) -> None:
    stub.answers = [text]
    grammar, waits = made(endpoint(stub))
    assert say(grammar) == DRAFT
    assert grammar.counts.reasons == {"words objected to": 1}
    assert grammar.counts.fall_back_rate == 1.0
    assert not waits
    seeds = [request["seed"] for request in stub.requests]
    assert seeds == [seeds[0], seeds[0] + 1, seeds[0] + 2]
    told = [[message["role"] for message in request["messages"]] for request in stub.requests]
    assert told == [["user"], ["user", "assistant", "user"], ["user", "assistant", "user"]]
    assert stub.requests[1]["messages"][1]["content"] == text
    stub.answers = [text, RIGHT]
    assert say(grammar, seed=1) == RIGHT
    assert len(stub.requests) == 5


def drop(handler: BaseHTTPRequestHandler) -> None:
    handler.close_connection = True
    handler.connection.close()


def half(handler: BaseHTTPRequestHandler) -> None:
    """Announces more than it sends, then hangs up."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices"')
    handler.close_connection = True


def sends(body: Any, status: int = 200, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    return lambda handler: respond(handler, body, status, **headers)


FAILURES = {
    "broken JSON": (sends(b'{"choices": [{'), "unreadable answer", []),
    "not UTF-8": (sends(b'"\xff\xfe"'), "unreadable answer", []),
    "another shape": (sends([1, 2]), "unreadable answer", []),
    "no choices": (sends({"choices": []}), "unreadable answer", []),
    "no content": (sends(completion(None)), "unreadable answer", []),
    "hung up": (drop, "no connection", []),
    "hung up half-way": (half, "no connection", []),
    "500": (sends({"error": "oh"}, 500), "server error", []),
    "404": (sends({"error": "what model?"}, 404), "request refused", []),
    "429": (sends({}, 429), "too many requests", [1.0, 2.0]),
    "503": (sends({}, 503), "server error", [1.0, 2.0]),
    "429, soon": (sends({}, 429, Retry_After="3"), "too many requests", [3.0, 3.0]),
    "503, late": (sends({}, 503, Retry_After="3600"), "server error", [5.0, 5.0]),
    "429, a date": (sends({}, 429, Retry_After="Wed, 21 Oct 2026 07:28:00 GMT"), "too many requests", [1.0, 2.0]),
    "429, nonsense": (sends({}, 429, Retry_After="nan"), "too many requests", [1.0, 2.0]),
    "429, the past": (sends({}, 429, Retry_After="-3"), "too many requests", [0.0, 0.0]),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failing_endpoint_is_tried_twice_more_and_then_the_draft_is_said(stub: Stub, name: str) -> None:
    answer, reason, expected = FAILURES[name]
    stub.answers = [answer]
    grammar, waits = made(endpoint(stub))
    assert say(grammar) == DRAFT
    assert grammar.counts.reasons == {reason: 1}
    assert waits == expected
    assert len(stub.requests) == 3
    stub.answers = [answer, RIGHT]
    assert say(grammar, seed=1) == RIGHT
    assert grammar.counts.by_model == 1
    assert waits == expected + expected[:1]
    assert len(stub.requests) == 5


def test_a_slow_endpoint_is_not_waited_for(stub: Stub) -> None:
    stub.answers = [lambda handler: stub.released.wait()]
    grammar, waits = made(endpoint(stub, timeout=0.2))
    assert say(grammar) == DRAFT
    assert grammar.counts.reasons == {"timed out": 1}
    assert (len(stub.requests), waits) == (3, [])


def test_no_server_at_all() -> None:
    grammar, _ = made(EndpointModel("stub", base_url="http://127.0.0.1:9"))
    assert say(grammar) == DRAFT
    assert grammar.counts.reasons == {"no connection": 1}


# --- failures in a row


def test_a_model_that_keeps_failing_is_left_alone_for_a_while() -> None:
    model = Fake(ModelError("gone", "no connection"))
    grammar, _ = made(model, retries=0)
    for seed in range(FAILURES_BEFORE_PAUSE + PAUSE):
        assert say(grammar, seed) == DRAFT
    assert len(model.calls) == FAILURES_BEFORE_PAUSE
    assert grammar.counts.reasons == {"no connection": FAILURES_BEFORE_PAUSE, "model unavailable": PAUSE}
    # One more try fails, and it is left alone again; the next one succeeds.
    for seed in range(100, 100 + 1 + PAUSE):
        say(grammar, seed)
    assert len(model.calls) == FAILURES_BEFORE_PAUSE + 1
    model._answers = [RIGHT]
    assert say(grammar, 200) == say(grammar, 201) == RIGHT


def test_words_that_are_refused_are_no_failure_of_the_model() -> None:
    model = Fake(MISSING)
    grammar, _ = made(model)
    for seed in range(10):
        say(grammar, seed)
    assert len(model.calls) == 30
    model._answers = [ModelError("gone"), MISSING]
    for seed in range(10, 20):
        say(grammar, seed)
    assert grammar.counts.reasons == {"words objected to": 20}


@pytest.mark.parametrize("answer", [ValueError("bug"), None, 7, b"bytes", "\ud800", "", "<think>hm", " \n "])
def test_whatever_a_model_returns_or_raises_say_returns_the_draft(answer: Any) -> None:
    grammar, _ = made(Fake(answer))
    assert say(grammar) == DRAFT
    assert grammar.counts.fell_back == 1


def test_an_interrupt_gets_through() -> None:
    grammar, _ = made(Fake(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        say(grammar)


def test_an_unknown_act_is_an_error_with_a_model_as_without() -> None:
    with pytest.raises(ValueError, match="unknown act"):
        ModelGrammar(Fake(RIGHT)).say("sing", "E_PD", (), stream())


# --- the cache


def chatter(chat: list[dict[str, str]]) -> str:
    """A model that says the draft with another word in front, which the check lets pass."""
    return f"Well: {draft_in(chat)}"


def several(grammar: ModelGrammar) -> list[str]:
    """Some utterances, one of which the model of `unwilling` does not say."""
    return [grammar.say("open", "E_PD", SLOTS[:count], stream(count)) for count in (1, 2, 3)]


def unwilling(chat: list[dict[str, str]]) -> str:
    return "I want a pony." if "4 stars" in chat[0]["content"] else chatter(chat)


def test_a_cache_says_the_same_without_the_model() -> None:
    grammar = ModelGrammar(Fake(unwilling))
    first = several(grammar)
    assert (grammar.counts.by_model, grammar.counts.fell_back) == (2, 1)
    drafts = [Grammar().say("open", "E_PD", SLOTS[:count], stream(count)) for count in (1, 2, 3)]
    assert first == [f"Well: {drafts[0]}", f"Well: {drafts[1]}", drafts[2]]
    again = ModelGrammar(None, cache=PhraseCache(entries=grammar.cache.entries, model="fake"))
    assert several(again) == first
    assert (again.counts.from_cache, again.counts.reasons) == (2, {"fell back before": 1})
    # With the model, too, what was said once is not asked for again, not even what it failed to say.
    model = Fake(chatter)
    assert several(ModelGrammar(model, cache=grammar.cache)) == first
    assert not model.calls
    # Another model's words are not taken for this one's, and without a name nothing is found.
    assert several(ModelGrammar(None, cache=PhraseCache(entries=grammar.cache.entries))) == drafts
    assert all(re.fullmatch(r"[0-9a-f]{32}", key) for key in grammar.cache.entries)


def test_without_model_and_cache_the_drafts_are_said() -> None:
    grammar, _ = made(None)
    assert say(grammar) == DRAFT
    assert grammar.counts.reasons == {"not in the cache": 1}
    assert not grammar.cache.entries


def test_a_cache_that_holds_something_untrue_is_not_believed() -> None:
    grammar = ModelGrammar(Fake(chatter))
    several(grammar)
    entries = {key: text.replace("air fryer", "pony") for key, text in grammar.cache.entries.items()}
    again = ModelGrammar(None, cache=PhraseCache(entries=entries, model="fake"))
    assert several(again) == [Grammar().say("open", "E_PD", SLOTS[:count], stream(count)) for count in (1, 2, 3)]
    assert again.counts.reasons == {"cached words objected to": 3}


def test_a_cache_file_survives_and_an_unfinished_line_is_lost_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "phrases.jsonl"
    first = several(ModelGrammar(Fake(unwilling), cache=PhraseCache(path)))
    assert len(path.read_text().splitlines()) == 3
    read = PhraseCache(path)
    assert read.model == "fake"
    assert several(ModelGrammar(None, cache=read)) == first
    with path.open("ab") as file:
        file.write(b'{"key": "0", "model": "fake", "te\xff')
    read = PhraseCache(path)
    assert len(read.entries) == 3
    assert read.keep("1", "one", "fake") == "one"
    assert PhraseCache(path).entries == read.entries
    path.write_bytes(b'7\n[]\n{"key": 7, "text": "a", "model": "b"}\n\n' + path.read_bytes())
    assert PhraseCache(path).entries == read.entries


def test_two_writers_of_one_file_lose_no_line_and_the_first_text_of_a_key_stays(tmp_path: Path) -> None:
    path = tmp_path / "phrases.jsonl"
    caches = [PhraseCache(path), PhraseCache(path)]
    with ThreadPoolExecutor(8) as pool:
        for number in range(200):
            for writer, cache in enumerate(caches):
                pool.submit(cache.keep, f"{number % 150} of {writer}", f"text {number}" * 20, "fake")
    read = PhraseCache(path).entries
    assert read == caches[0].entries | caches[1].entries
    assert len(read) == 300
    assert caches[0].keep("0 of 0", "later", "fake") != "later"


def test_a_cache_that_cannot_be_written_stays_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = PhraseCache(tmp_path / "file" / "phrases.jsonl")
    with pytest.warns(UserWarning, match="cannot be written"):
        cache.keep("1", "one", "fake")
    assert cache.keep("2", "two", "fake") == "two"
    assert cache.entries == {"1": "one", "2": "two"}


def test_threads_may_share_a_grammar() -> None:
    grammar = ModelGrammar(Fake(chatter))
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda seed: say(grammar, seed % 25), range(200)))
    assert texts == [say(grammar, seed % 25) for seed in range(200)]
    counts = grammar.counts
    assert counts.utterances == counts.by_model + counts.from_cache + counts.fell_back == 400
    assert len(grammar.cache.entries) == 25


# --- a model on this machine


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny model with random weights, as a folder that transformers can load."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

    folder = tmp_path_factory.mktemp("model")
    words = ["<pad>", "<unk>", "<end>", *sorted({*re.findall(r"\w+|[^\w\s]", DRAFT), *"a pony and some hats".split()})]
    plain_tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, "<unk>"))
    plain_tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=plain_tokenizer, pad_token="<pad>", unk_token="<unk>", eos_token="<end>"
    )
    tokenizer.chat_template = (
        "{% for message in messages %}{{ message.role }} : {{ message.content }}\n{% endfor %}"
        "{% if add_generation_prompt %}assistant :{% endif %}"
    )
    tokenizer.save_pretrained(folder)
    config = Qwen3Config(
        vocab_size=len(words), hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, head_dim=16, max_position_embeddings=2048, pad_token_id=0, eos_token_id=2,
    )  # fmt: skip
    Qwen3ForCausalLM(config).save_pretrained(folder)
    return folder


def test_a_checkpoint_is_loaded_and_its_gibberish_is_not_said(checkpoint: Path) -> None:
    import torch

    model = LocalModel(str(checkpoint), device="cpu", max_tokens=12)
    chat = messages("open", SLOTS, {}, (), DRAFT)
    before = torch.random.get_rng_state()
    answers = [model.complete(chat, seed) for seed in (1, 1, 2)]
    assert torch.equal(before, torch.random.get_rng_state())
    assert answers[0] == answers[1] != answers[2]
    assert "user :" not in answers[0]
    cold = LocalModel(str(checkpoint), device="cpu", max_tokens=12, temperature=0)
    assert cold.complete(chat, 1) == cold.complete(chat, 2)
    grammar, waits = made(model)
    assert say(grammar) == DRAFT
    assert grammar.counts.reasons == {"words objected to": 1}
    assert not waits


def test_a_checkpoint_that_cannot_be_loaded_is_a_failure_and_tried_once(tmp_path: Path) -> None:
    model = LocalModel(str(tmp_path / "nothing"), device="cpu")
    grammar, _ = made(model)
    assert say(grammar) == DRAFT
    assert grammar.counts.reasons == {"cannot be loaded": 1}
    with pytest.raises(ModelError, match="cannot be loaded") as first:
        model.complete([], 0)
    with pytest.raises(ModelError) as second:
        model.complete([], 0)
    assert first.value is second.value


def test_a_checkpoint_without_a_chat_template_is_a_failure(checkpoint: Path, tmp_path: Path) -> None:
    shutil.copytree(checkpoint, tmp_path / "model", ignore=shutil.ignore_patterns("*.jinja"))
    model = LocalModel(str(tmp_path / "model"), device="cpu")
    with pytest.raises(ModelError, match="chat_template"):
        model.complete([{"role": "user", "content": "Hi"}], 0)


# --- the check


@given(text=st.text() | st.sampled_from([RIGHT, DRAFT, TELLS, INVENTS]).flatmap(lambda a: st.text().map(a.__add__)))
def test_whatever_a_model_says_only_what_passes_the_check_is_said(text: str) -> None:
    grammar, _ = made(Fake(text), retries=0)
    said = say(grammar)
    assert said == DRAFT or not objections(said, SLOTS, WITHHELD, DRAFT)
    assert grammar.counts.fell_back == (1 if objections(plain(text), SLOTS, WITHHELD, DRAFT) else 0)


GOOD = (
    "Need an air fryer, max $25, 4 stars or better.",
    "Hello! Could do with an air fryer. It shouldn't cost more than 25 dollars and I want at least 4 stars.",
    "Hi, I'm hoping for an air fryer that won't go over $25, rated 4 or higher. Thank you!",
    "Well, hmm, I think an air fryer, for no more than $25, with a minimum rating of 4 stars.",
    "An air fryer for $25 or less with reviews of 4+ stars, please 😊",
)
BAD = {
    "not a single word": "…!",
    "too long": RIGHT + " Please." * 100,
    "a limit turned round": RIGHT.replace("$25 at most", "$25 or more"),
    "a limit turned round by a negation": RIGHT.replace("$25 at most", "no less than $25"),
    "a limit that is none": RIGHT.replace("$25 at most", "$25"),
    "another limit turned round": RIGHT.replace("or better", "at most"),
    "a denial": RIGHT.replace("An air fryer", "Not an air fryer, no air fryer"),
    "a number": f"{RIGHT} I have 3 kids.",
    "a number in words": f"{RIGHT} Make it two.",
    "an amount": f"{RIGHT} Say, $4?",
    "a date": f"{RIGHT} By March 4, 2025.",
    "an id": f"{RIGHT} Like p4abcdef.",
    "an address": f"{RIGHT} See shop.com.",
    "markup": RIGHT.replace("$25", "**$25**"),
    "a list": f"- {RIGHT}",
    "JSON": json.dumps({"text": RIGHT}),
    "a name": f"{RIGHT} It should be a Philips.",
    "a color": f"{RIGHT} Red if possible.",
    "a value of the catalog": f"{RIGHT} With a walnut finish.",
    "when": f"{RIGHT} I need it by tomorrow.",
    "a question": f"{RIGHT} Do you have one?",
    "the other side": f"Happy to help you! {RIGHT}",
    "a machine": f"As an AI, I say: {RIGHT}",
    "a remark": f"Rephrased: {RIGHT}",
    "another language": f"{RIGHT} Спасибо!",
    "strange digits": RIGHT.replace("$25", "$２５"),
    "something invisible": RIGHT.replace("fryer", "fry\u200ber"),
    "a withheld number": f"{RIGHT} At least 900 W.",
}


@pytest.mark.parametrize("text", [DRAFT, RIGHT, *GOOD])
def test_other_words_for_the_same_pass(text: str) -> None:
    assert objections(text, SLOTS, WITHHELD, DRAFT) == []


@pytest.mark.parametrize("what", BAD)
def test_words_for_something_else_do_not(what: str) -> None:
    assert objections(plain(BAD[what]), SLOTS, WITHHELD, DRAFT, vocabulary=frozenset({"walnut"}))


def test_what_is_put_round_a_message_is_taken_off() -> None:
    for answer in (f'"{RIGHT}"', f"Customer: {RIGHT}", f"<think>hm</think>\n\n{RIGHT}\n", f"**Message:** “{RIGHT}”"):
        assert plain(answer) == RIGHT
    assert plain("One\n  two") == "One two"
    assert plain("<think>never ends") == ""


def of_item(number: int, name: str, kind: str, attribute: str, value: Any) -> Slot:
    return Slot(f"{kind}{number}", kind, attribute, "eq", value, label=attribute, item=number, item_name=name)


def test_what_belongs_to_two_things_is_not_mixed_up() -> None:
    slots = [
        of_item(0, "GreenLeaf Charger", "quantity", "quantity", 3),
        of_item(1, "Zed Box", "quantity", "quantity", 2),
    ]
    draft = "I need 3 of the GreenLeaf Charger and 2 of the Zed Box."
    assert not objections("Please add 2 of the Zed Box and 3 of the GreenLeaf Charger.", slots, (), draft)
    assert objections("Please add 2 of the GreenLeaf Charger and 3 of the Zed Box.", slots, (), draft)
    assert objections("Please add 3 of one and 2 of the other.", slots, (), draft)


def test_what_matters_most_and_what_comes_second_are_not_mixed_up() -> None:
    price = Slot("1", "priority", "price", "eq", "", label="price", rank=1)
    speed = Slot("2", "priority", "ship_days", "eq", "", label="delivery time", rank=2)
    draft = "What matters most to me is a low price. After that, quick delivery."
    assert not objections("Most of all I care about the price, then about fast delivery.", (price, speed), (), draft)
    assert objections("Most of all I care about fast delivery, then about the price.", (price, speed), (), draft)
    assert objections("Quick delivery matters most to me.", (speed,), (price,), "After that, quick delivery.")


def test_messages_without_facts_stay_without_and_keep_what_they_speak_of() -> None:
    assert not objections("Many thanks, that's wonderful!", (), WITHHELD, "Thanks, that's great!")
    assert objections("No, that is wrong.", (), (), "Yes, that's right.")
    assert not objections("No problem, go ahead.", (), (), "Sure, go ahead.")
    names = names_in({"complaints": [{"what": "not_wanted", "title": "Zed Box 3000"}], "about": None})
    assert names == ["Zed Box 3000"]
    draft = "I never asked for the Zed Box 3000."
    assert not objections("The Zed Box 3000 is nothing I asked for.", (), (), draft, names=names)
    assert objections("That is nothing I asked for.", (), (), draft, names=names)


# --- the drafts of whole episodes


class Recorder(Customer):
    """A customer that notes what it asks of its grammar."""

    calls: list[tuple[str, str, list[Slot], list[Slot], dict[str, Any], str]]

    def _say(self, act: str, slots: Any, turn: int, context: Any) -> str:
        text = super()._say(act, slots, turn, context)
        withheld = [slot for slot in self.ledger.slots.values() if slot not in slots and not self.ledger.said(slot.key)]
        context = {"style": self._persona.style, **context}
        self.calls.append((self._env_id, act, list(slots), withheld, context, text))
        return text


@pytest.fixture(scope="module")
def drafts(words_engine: Any) -> list[tuple[str, str, list[Slot], list[Slot], dict[str, Any], str]]:
    """What the grammar was asked for, and said, in episodes of a good and of a bad agent."""
    Recorder.calls = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ecomrlve.intents.Customer", Recorder)
        for env_id in ENVIRONMENTS:
            env = Environment((env_id,), words_engine)
            for seed in range(48):
                options = {"difficulty": (1, 4, 8, 12)[seed % 4], "overrides": {"noise": 0.0}}
                observation, _ = env.reset(seed=seed, options=options)
                agent = SlippingAgent(0.2) if seed % 3 else ReferenceAgent()
                agent.reset(env)
                over = False
                while not over:
                    observation, _, terminated, truncated, _ = env.step(agent.act(observation))
                    over = terminated or truncated
    return Recorder.calls


def test_no_draft_of_an_episode_is_objected_to(drafts: Any) -> None:
    assert len(drafts) > 2000
    assert len({act for _, act, *_ in drafts}) >= 10
    for env_id, act, slots, withheld, context, text in drafts:
        wrong = objections(plain(text), slots, withheld, text, names=names_in(context))
        assert not wrong, (env_id, act, wrong, text)
        assert plain(text) == text


def test_a_prompt_holds_the_facts_and_the_draft_and_nothing_withheld(drafts: Any) -> None:
    for _, act, slots, withheld, context, text in drafts:
        (message,) = messages(act, slots, context, names_in(context), text)
        prompt = message["content"]
        assert draft_in([message]) == text
        head = prompt.partition("as an example:")[0]
        assert "None" not in head
        assert "{" not in head
        assert head.count("\n- ") == max(1, len(slots) + len(names_in(context)))
        for slot in withheld:
            if slot.item is None and isinstance(slot.value, str) and len(slot.value) > 4:
                assert slot.value not in prompt or slot.value.lower() in text.lower(), (slot, prompt)


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_every_act_is_phrased_and_its_draft_accepted(env_id: str) -> None:
    slots = [TYPE, PRICE, RATING, COLOR]
    if env_id in ("E_RETURN", "E_STATUS", "E_POLICY"):
        slots = [Slot("id", "reference", "order_id", "eq", "o0a1b2c3", label="order number")]
    contexts: list[dict[str, Any]] = [
        {}, {"hasty": True}, {"late": True}, {"about": "handle"}, {"item_name": "the Zed Box 3000"}, {"subject": True},
        {"back": True, "what": "air fryer", "env": env_id}, {"follow": True}, {"why": "working"},
        {"complaints": [{"what": "not_wanted", "title": "Zed Box 3000"}]},
        {"complaints": [{"what": "wrong_type", "title": "Zed Box 3000", "wanted": "air fryer"}]},
        {"complaints": [{"what": "sold_out", "title": "Zed Box 3000"}]},
    ]  # fmt: skip
    grammar = ModelGrammar(Fake(draft_in), vocabulary=frozenset({"walnut", "cotton"}))
    for number, act in enumerate(ACTS):
        if (env_id, act) == ("E_JOURNEY", "open"):
            continue  # each of its parts opens in an environment of its own
        for place, context in enumerate(contexts):
            for style in STYLES:
                key, more = ("test", env_id, number, place, style), {**context, "style": style}
                for given_slots in (slots, []):
                    draft = Grammar().say(act, env_id, given_slots, Stream(*key), context=more)
                    said = grammar.say(act, env_id, given_slots, Stream(*key), context=more, withheld=[WATTS])
                    assert said == draft
    assert grammar.counts.reasons == {}
    assert grammar.counts.by_model + grammar.counts.from_cache == grammar.counts.utterances > 1000


def test_a_customer_may_have_a_model_for_its_words(words_engine: Any) -> None:
    def transcript(model: Any) -> list[dict[str, Any]]:
        made = ModelGrammar(model)
        env = Environment(("E_PD",), words_engine, made)
        observation, _ = env.reset(seed=3, options={"difficulty": 4, "overrides": {"noise": 0.0}})
        return list(observation.messages)

    assert transcript(Fake("I want a pony.")) == transcript(Fake(ModelError("gone"))) == transcript(None)
    assert transcript(Fake(chatter)) != transcript(None)
