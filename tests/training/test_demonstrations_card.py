"""The dataset card tells the Hub where the files are and people what is in them; and pushing an export to the Hub."""

import re
from collections import Counter

import pytest
import yaml

from ecomrlve import __version__
from ecomrlve.training.demonstrations import Choice, export
from ecomrlve.training.demonstrations_files import DemonstrationError, push

datasets = pytest.importorskip("datasets")


@pytest.fixture(scope="module")
def made(all_records, words_engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export") / "all"
    sources = [*all_records, all_records[0], all_records[1] | {"seed": 20002}]
    return export(sources, words_engine, folder, Choice(max_characters=300_000), command="ecomrlve demonstrations x")


@pytest.fixture(scope="module")
def text(made):
    return (made.folder / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def rows(made, tmp_path_factory):
    loaded = datasets.load_dataset(str(made.folder), cache_dir=str(tmp_path_factory.mktemp("cache")))
    return [row | {"split": name} for name, split in loaded.items() for row in split]


def table(text, first):
    """The table whose head begins with some words, as one dict per line."""
    lines = text[text.index(f"| {first}") :].split("\n\n")[0].splitlines()
    head, _, *body = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(head, line, strict=True)) for line in body]


def test_the_front_matter_tells_the_hub_what_it_needs(text):
    front = yaml.safe_load(text.split("---")[1])
    assert front["license"] == "mit"
    assert front["size_categories"] == "n<1K"
    assert {"ecomrlve", "tool-calling"} <= set(front["tags"])
    (config,) = front["configs"]
    assert config["data_files"] == [
        {"split": "train", "path": "data/train-*"},
        {"split": "test", "path": "data/test-*"},
    ]


def test_the_sizes_are_those_of_the_files(text, made, rows):
    info = yaml.safe_load(text.split("---")[1])["dataset_info"]
    counts = Counter(row["split"] for row in rows)
    assert {split["name"]: split["num_examples"] for split in info["splits"]} == counts
    assert info["download_size"] == made.size == sum(path.stat().st_size for path in made.folder.glob("data/*"))
    assert info["dataset_size"] == sum(split["num_bytes"] for split in info["splits"]) > made.size


def test_the_counts_are_those_of_the_rows(text, rows):
    counts = Counter((row["env_id"], row["difficulty"]) for row in rows)
    for line in table(text, "environment | d=0"):
        env_id = line["environment"]
        for d in (0, 7):
            expected = sum(count for (env, level), count in counts.items() if level == d and env_id in (env, "all"))
            assert int(line[f"d={d}"]) == expected
        assert int(line["all"]) == int(line["d=0"]) + int(line["d=7"])
    assert len(table(text, "environment | d=0")) == 9
    assert f"**{len(rows)} rows**" in text


def test_the_figures_are_those_of_the_rows(text, rows):
    def characters(row):
        calls = [call["function"] for message in row["messages"] for call in message.get("tool_calls", ())]
        return sum(len(message["content"]) for message in row["messages"]) + sum(map(length_of_call, calls))

    for line in table(text, "environment | train"):
        mine = [row for row in rows if row["env_id"] == line["environment"]]
        assert int(line["train"]) == sum(row["split"] == "train" for row in mine)
        assert int(line["test"]) == sum(row["split"] == "test" for row in mine)
        assert line["correct"] == f"{sum(row['correct'] for row in mine) / len(mine):.1%}"
        assert line["mean turns"] == f"{sum(row['turns'] for row in mine) / len(mine):.2f}"
        assert line["mean total"] == f"{sum(row['total'] for row in mine) / len(mine):.3f}"
        assert line["longest"] == f"{max(map(characters, mine)):,}"


def length_of_call(function):
    import json

    return len(json.dumps(function, ensure_ascii=False))


def test_it_says_how_it_was_made(text, words_engine):
    assert "ecomrlve demonstrations x" in text
    assert f"ecomrlve {__version__}" in text
    assert words_engine.catalog.fingerprint in text
    assert "reference (" in text
    assert "dev: 0 to 99, test: 10000 to 10199" in text
    assert "chats of at most 300,000 characters" in text
    left_out = re.search(r"Left out: (.*)\.", text).group(1)
    assert "the same chat came before (1)" in left_out
    assert "it does not replay to what it says (1)" in left_out


def test_every_column_is_described(text, rows):
    described = {line["column"].strip("`") for line in table(text, "column")}
    assert described == set(rows[0]) - {"split"}


@pytest.mark.parametrize(
    ("count", "size"),
    [(1, "n<1K"), (1000, "1K<n<10K"), (99_999, "10K<n<100K"), (10**6, "1M<n<10M"), (10**7, "10M<n<100M")],
)
def test_the_size_has_the_hubs_words(count, size):
    from ecomrlve.training.demonstrations_card import size_category

    assert size_category(count) == size


# --- the Hub ---------------------------------------------------------------------------------------------------------


def test_pushing_makes_the_dataset_and_uploads_the_folder(made, monkeypatch):
    import huggingface_hub

    done = []
    address = "https://hub.example/datasets/me/shop"
    monkeypatch.setattr(
        huggingface_hub.HfApi, "create_repo", lambda self, *names, **options: done.append((names, options)) or address
    )
    monkeypatch.setattr(huggingface_hub.HfApi, "upload_folder", lambda self, **options: done.append(options))
    assert push(made.folder, "me/shop") == address
    (names, options), upload = done
    assert (names, options["repo_type"], options["exist_ok"]) == (("me/shop",), "dataset", True)
    assert (upload["repo_id"], upload["repo_type"], upload["folder_path"]) == ("me/shop", "dataset", made.folder)


@pytest.mark.parametrize("name", ["me/shop", "not a name/at all/"])
def test_a_push_that_fails_says_where_the_export_is(made, name):
    with pytest.raises(DemonstrationError, match=re.escape(str(made.folder))):
        push(made.folder, name)
