"""The page of dialogues is what the code plays now, and shows all styles and most of what a customer does."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from ecomrlve.collections import COLLECTIONS
from ecomrlve.customer.wording import STYLES

ROOT = Path(__file__).resolve().parents[1]
DIFFICULTIES = {0, 4, 8, 12}
FEWEST_ACTS = 8
FEWEST_MESSAGES = 3  # of the customer


@pytest.fixture(scope="module")
def script() -> Any:
    """scripts/document.py as a module."""
    spec = importlib.util.spec_from_file_location("dialogue_script", ROOT / "scripts" / "document.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def found(script: Any, words_engine: Any) -> list[tuple[dict[str, Any], str]]:
    """The page's episodes, played now: record and style."""
    return [script.dialogue_of(words_engine, *one) for one in script.DIALOGUES]


@pytest.fixture(scope="module")
def page() -> str:
    return (ROOT / "docs" / "dialogues.md").read_text(encoding="utf-8")


def replies(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [record["opening"], *(step["customer"] for step in record["steps"] if step["customer"])]


def test_the_page_is_what_the_code_makes_now(script: Any, found: list[Any], page: str) -> None:
    assert page == script.dialogue_page(found), "run python scripts/document.py dialogues"


def test_ten_dialogues_over_all_environments_difficulties_and_styles(found: list[Any]) -> None:
    assert len(found) == 10
    assert {record["env_id"] for record, _ in found} == set(COLLECTIONS["C8"])
    assert {record["difficulty"] for record, _ in found} == DIFFICULTIES
    assert {style for _, style in found} == set(STYLES)


def test_the_customer_does_many_things_and_speaks_often_enough(found: list[Any]) -> None:
    acts = {act for record, _ in found for reply in replies(record) for act in reply["acts"]}
    assert len(acts) >= FEWEST_ACTS
    assert {"clarify", "switch", "elaborate"} <= acts
    for record, _ in found:
        assert len(replies(record)) >= FEWEST_MESSAGES
        assert record["reward"]["correct"]


def test_the_headings_name_what_is_played(script: Any, found: list[Any], page: str) -> None:
    headings = re.findall(r"^## \d+\. (E_[A-Z]+), d = (\d+), seed (\d+): (\w+)$", page, flags=re.MULTILINE)
    styles = [style for _, style in found]
    shown = [(env, int(d), int(seed), style) for env, d, seed, style in headings]
    assert shown == [(*one, style) for one, style in zip(script.DIALOGUES, styles, strict=True)]


def test_everything_said_stands_on_the_page_in_full(script: Any, found: list[Any], page: str) -> None:
    for record, _ in found:
        for reply in replies(record):
            assert f"**Customer:** {script._plain(reply['text'])}\n" in page
        for step in record["steps"]:
            if message := step["canonical"].get("assistant_message"):
                assert f"**Agent:** {script._plain(message)}\n" in page


def test_the_page_says_how_it_is_made_and_links_lead_to_files(page: str) -> None:
    beginning = page.split("\n## ")[0]
    assert "`python scripts/document.py dialogues`" in beginning
    links = re.findall(r"(?<!\\)\]\(([^)\s]+)\)", beginning)
    assert links
    for link in links:
        assert (ROOT / "docs" / link).exists(), link


def test_tool_calls_of_a_turn_are_a_short_line(script: Any) -> None:
    results = [
        {"name": "order_list", "args": {"page": 1}, "result": {"orders": [1, 2]}},
        {"name": "order_list", "args": {"page": 2}, "result": {"orders": [3]}},
        {"name": "cart_add", "args": {}, "result": {"lines": [1]}},
        {"name": "cart_add", "args": {}, "result": {"lines": [1, 2]}},
        {"name": "cart_add", "args": {}, "result": {"error": {"code": "out_of_stock"}}},
        {"name": "user_get_profile", "args": {}, "result": {"tier": "Basic"}},
    ]
    assert script._calls_in_short(results) == (
        r"order\_list ×2 (3 orders); cart\_add ×3 (2 lines in the cart, refused: out\_of\_stock); user\_get\_profile"
    )
