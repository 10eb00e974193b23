"""The documents are true: their episodes are those of the code, the picture shows its numbers, links lead somewhere."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from ecomrlve.agents.checkpoint import CheckpointOptions
from ecomrlve.agents.endpoint import EndpointOptions
from ecomrlve.agents.registry import KINDS
from ecomrlve.agents.slipping import SLIP
from ecomrlve.collections import COLLECTIONS
from ecomrlve.difficulty import HIGHEST, LOWEST
from ecomrlve.evaluation.certificate import ALL_LAWS
from ecomrlve.evaluation.failures import CAUSES
from ecomrlve.splits import HELD

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = (
    "README.md",
    "docs/environments.md",
    "docs/laws.md",
    "docs/scale.md",
    "docs/evaluation.md",
    "docs/curriculum.md",
    "docs/api.md",
    "docs/training.md",
    "docs/adapters.md",
)
ALL = COLLECTIONS["C8"]
SVG = "{http://www.w3.org/2000/svg}"
PAPER, NIGHT = "#ffffff", "#0d1117"  # what GitHub shows pictures on
LEAST_CONTRAST = 3.0  # for graphics, by the web's accessibility guidelines
MOST_TURNS = {"E_JOURNEY": 12}


@pytest.fixture(scope="module")
def script() -> Any:
    """scripts/document.py as a module."""
    spec = importlib.util.spec_from_file_location("document_script", ROOT / "scripts" / "document.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def records(script: Any, words_engine: Any) -> dict[tuple[str, str], dict[str, Any]]:
    """The document's episodes, played now: (environment, "easy" or "hard") → record."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for block in script.BLOCK.finditer(text_of("docs/environments.md")):
        key = block["env"], "hard" if (block["env"], "easy") in found else "easy"
        found[key] = script.record_of(words_engine, block["env"], int(block["d"]), int(block["seed"]))
    return found


# --- trajectories ----------------------------------------------------------------------------------------------------


def test_the_documents_episodes_are_what_the_code_plays_now(script: Any, records: dict[tuple[str, str], Any]) -> None:
    blocks = list(script.BLOCK.finditer(text_of("docs/environments.md")))
    assert len(blocks) == 2 * len(ALL)
    for block, record in zip(blocks, records.values(), strict=True):
        assert block["body"] == script.rendered(record) + "\n", (
            f"{block['env']} d={block['d']} seed={block['seed']}: run python scripts/document.py trajectories"
        )


def test_making_the_document_anew_touches_nothing_but_the_episodes(script: Any, words_engine: Any) -> None:
    document = "before\n<!-- trajectory E_STATUS d=1 seed=1 -->\nstale text\n<!-- /trajectory -->\nafter `seed`\n"
    made = script.filled(document, words_engine)
    assert made.startswith("before\n<!-- trajectory E_STATUS d=1 seed=1 -->\n- **Customer:**")
    assert made.endswith("<!-- /trajectory -->\nafter `seed`\n")
    assert "stale text" not in made
    assert script.filled(made, words_engine) == made


def test_every_environment_has_its_section_with_an_easy_and_a_hard_episode(records: dict[tuple[str, str], Any]) -> None:
    document = text_of("docs/environments.md")
    sections = dict(re.findall(r"^## (E_[A-Z]+)[^\n]*\n(.*?)(?=^## |\Z)", document, flags=re.DOTALL | re.MULTILINE))
    assert tuple(sections) == ALL
    for env_id, section in sections.items():
        easy, hard = records[env_id, "easy"], records[env_id, "hard"]
        assert section.count("<!-- trajectory") == 2
        assert "**Easy.** Look at" in section
        assert "**Hard.** Look at" in section
        assert easy["difficulty"] < hard["difficulty"]
        for record in (easy, hard):
            assert record["reward"]["correct"]
            assert len(record["steps"]) <= MOST_TURNS.get(env_id, 6)


def test_every_answer_field_is_named_in_its_section() -> None:
    from ecomrlve.environment import Environment

    document = text_of("docs/environments.md")
    for env_id in ALL[:-1]:  # a journey has those of all others
        section = document.split(f"\n## {env_id} ")[1].split("\n## ")[0]
        fields = set(Environment.task_of(env_id).answer.model_fields) - {"done"}
        table = "\n".join(line for line in section.splitlines() if line.startswith("| "))
        assert {name for name in fields if f"`{name}`" not in table} == set()


def acts(record: dict[str, Any]) -> list[str]:
    return [act for step in record["steps"] if step["customer"] for act in step["customer"]["acts"]]


def refusals(record: dict[str, Any]) -> list[str]:
    results = [call["result"] for step in record["steps"] for call in step["tool_results"]]
    return [result["error"]["code"] for result in results if "error" in result]


def left_out(record: dict[str, Any], kind: str) -> list[bool]:
    return [entry["omitted"] for entry in record["ledger"] if entry["kind"] == kind]


def mostly_left_out(record: dict[str, Any]) -> bool:
    omitted = left_out(record, "constraint")
    return 2 * sum(omitted) > len(omitted)


def sources(record: dict[str, Any]) -> set[str]:
    return {fact["source"] for fact in record["goal"]["facts"]}


def second_turn(record: dict[str, Any]) -> dict[str, Any]:
    return record["steps"][1]


def closed_yesterday(record: dict[str, Any]) -> bool:
    goal = record["goal"]
    return goal["days_since_delivery"] == goal["window_days"] + 1


# What the sentence before each episode says of it. Where the code changes and this fails, choose another seed.
SHOWN: dict[tuple[str, str], Callable[[dict[str, Any]], bool]] = {
    ("E_CART", "easy"): lambda r: refusals({"steps": [second_turn(r)]}) == refusals(r) == ["out_of_stock"],
    ("E_CART", "hard"): lambda r: "switch" in second_turn(r)["customer"]["acts"] and r["goal"]["items"][-1]["note"],
    ("E_SUB", "easy"): lambda r: r["goal"]["compatible_by"] == "arm_mount" and len(r["goal"]["feasible"]) < 10,
    ("E_SUB", "hard"): lambda r: "switch" in second_turn(r)["customer"]["acts"],
    ("E_PD", "easy"): lambda r: r["steps"][0]["discounted"] and any(left_out(r, "priority")),
    ("E_PD", "hard"): lambda r: "switch" in acts(r) and mostly_left_out(r),
    ("E_RETURN", "easy"): lambda r: r["goal"]["decision"] == "not_eligible" and r["goal"]["last_return_day"],
    ("E_RETURN", "hard"): lambda r: closed_yesterday(r) and r["goal"]["best"],
    ("E_STATUS", "easy"): lambda r: r["goal"]["eta"] and second_turn(r)["tool_results"][0]["name"] == "order_track",
    ("E_STATUS", "hard"): lambda r: left_out(r, "reference") == [True] * 3,
    ("E_POLICY", "easy"): lambda r: sources(r) == {"order"},
    ("E_POLICY", "hard"): lambda r: len(r["goal"]["facts"]) >= 4 and {"order", "profile"} <= sources(r),
    ("E_BUNDLE", "easy"): lambda r: left_out(r, "budget") == [True],
    ("E_BUNDLE", "hard"): lambda r: r["goal"]["tie"]["attribute"].endswith("connector"),
    ("E_JOURNEY", "easy"): lambda r: any({"thanks", "next"} <= set(s["customer"]["acts"]) for s in r["steps"]),
    ("E_JOURNEY", "hard"): lambda r: acts(r).count("switch") >= 2,
}


@pytest.mark.parametrize("key", SHOWN, ids=" ".join)
def test_an_episode_shows_what_the_document_says_of_it(
    key: tuple[str, str], records: dict[tuple[str, str], Any]
) -> None:
    assert SHOWN[key](records[key])


def test_signs_of_markdown_and_html_are_shown_as_they_are(script: Any) -> None:
    assert script._plain("a_b <c>\n *d* [e] $5") == r"a\_b \<c\> \*d\* \[e\] \$5"
    page = {"policies": [{"title": "<T>", "text": "<T>\nfee & more: $3"}]}
    (line,) = script._page(page)
    assert "&lt;T&gt;" in line
    assert "fee &amp; more: &#36;3" in line


# --- the picture of law 5 --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    return json.loads(text_of("assets/pictures/monotone.json"))


@pytest.fixture(scope="module")
def picture() -> ElementTree.Element:
    return ElementTree.fromstring(text_of("assets/pictures/monotone.svg"))


def scale(picture: ElementTree.Element, name: str, coordinate: str) -> Callable[[float], float]:
    """From pixels back to values, by the labels of an axis."""
    labels = [label for label in picture.iter(f"{SVG}text") if label.get("class") == name]
    known = [(float(label.get(coordinate, "")), float((label.text or "").replace("−", "-"))) for label in labels]
    (first, low), (last, high) = known[0], known[-1]
    assert len(known) >= 3
    for place, value in known:
        assert low + (place - first) * (high - low) / (last - first) == pytest.approx(value, abs=1e-3)
    return lambda pixels: low + (pixels - first) * (high - low) / (last - first)


def test_the_picture_shows_its_numbers(figures: dict[str, Any], picture: ElementTree.Element) -> None:
    across, up = scale(picture, "difficulty", "x"), scale(picture, "mean", "y")
    drawn = {group.get("data-environment"): group for group in picture.iter(f"{SVG}g")}
    assert tuple(drawn) == ALL == tuple(figures["curves"])
    for env_id, points in figures["curves"].items():
        group = drawn[env_id]
        dots = [(float(c.get("cx", "")), float(c.get("cy", ""))) for c in group.iter(f"{SVG}circle")]
        paths = {path.get("class"): path.get("d", "") for path in group.iter(f"{SVG}path")}
        corners = [tuple(map(float, pair.split())) for pair in re.split("[ML]", paths["line"])[1:]]
        bars = re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)", paths["errors"])
        assert corners == dots
        assert [round(across(x)) for x, _ in dots] == list(range(LOWEST, HIGHEST + 1))
        for point, (x, y), (bar, bottom, top) in zip(points, dots, bars, strict=True):
            assert across(x) == pytest.approx(point["d"], abs=0.01)
            assert up(y) == pytest.approx(point["mean"], abs=1e-3)
            assert float(bar) == x
            assert up(float(bottom)) == pytest.approx(point["mean"] - point["error"], abs=1e-3)
            assert up(float(top)) == pytest.approx(point["mean"] + point["error"], abs=1e-3)


def test_the_picture_is_what_the_script_draws_of_the_numbers(script: Any, figures: dict[str, Any]) -> None:
    assert script.drawn(figures) == text_of("assets/pictures/monotone.svg")


def test_the_numbers_say_what_they_were_measured_on_and_fall(figures: dict[str, Any], catalog: Any) -> None:
    assert figures["slip"] == SLIP
    assert figures["seeds"] >= 30
    assert figures["fingerprint"] == catalog.fingerprint
    for points in figures["curves"].values():
        assert points[0]["mean"] - points[-1]["mean"] >= 0.2


def test_a_measured_point_is_the_mean_of_its_episodes(script: Any, words_engine: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(script, "COLLECTIONS", {"C8": ("E_STATUS",)})
    monkeypatch.setattr(script, "HIGHEST", 1)
    found = script.measured(words_engine, 2, 1, progress=False)
    from ecomrlve.agents.base import play
    from ecomrlve.agents.slipping import SlippingAgent
    from ecomrlve.environment import Environment

    env = Environment(("E_STATUS",), words_engine)
    scores = [[play(env, SlippingAgent(), seed, d).task for seed in range(2)] for d in (0, 1)]
    assert [point["mean"] for point in found["curves"]["E_STATUS"]] == [sum(two) / 2 for two in scores]


def luminance(color: str) -> float:
    """Relative luminance of #rrggbb, as the web's accessibility guidelines define it."""
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_picture_can_be_read_by_day_and_by_night(script: Any, picture: ElementTree.Element) -> None:
    used = set(re.findall(r"#[0-9a-f]{6}", text_of("assets/pictures/monotone.svg")))
    assert used == {*script.COLORS, script.GRAY}
    for color in used:
        assert min(contrast(color, PAPER), contrast(color, NIGHT)) >= LEAST_CONTRAST, color
    names = [float(t.get("y", "")) for g in picture.iter(f"{SVG}g") for t in g.iter(f"{SVG}text")]
    names.sort()
    assert min(b - a for a, b in itertools.pairwise(names)) >= 16
    assert names[-1] <= float(picture.get("height", "0")) - 16


def test_names_keep_apart_also_where_lines_end_together(script: Any) -> None:
    for ends in ([100.0] * 8, [404.0] * 8, [46.0] * 8, [400.0, 390.0, 46.0, 47.0, 200.0, 404.0, 403.0, 402.0]):
        places = script._label_places({f"E{n}": end for n, end in enumerate(ends)})
        heights = sorted(places.values())
        assert min(b - a for a, b in itertools.pairwise(heights)) >= 16
        assert heights[0] >= script.TOP
        assert heights[-1] <= script.BOTTOM


# --- links and laws --------------------------------------------------------------------------------------------------


def anchors(text: str) -> set[str]:
    """The names under which GitHub links headings."""
    titles = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_to_files_and_headings(name: str) -> None:
    links = re.findall(r"(?<!\\)\]\(([^)\s]+)\)", text_of(name))
    assert links
    for link in links:
        assert "://" not in link, "documents stand by themselves"
        path, _, anchor = link.partition("#")
        target = (ROOT / name).parent / path if path else ROOT / name
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("name", DOCUMENTS)
def test_modules_and_files_named_exist(name: str) -> None:
    for path in re.findall(r"`((?:ecomrlve|tests|scripts|docs|assets|components)/[\w./-]*)`", text_of(name)):
        assert (ROOT / path).exists(), path


def test_every_law_is_explained_once() -> None:
    numbers = re.findall(r"^\| \*\*(\d)\b", text_of("docs/laws.md"), flags=re.MULTILINE)
    assert [int(number) for number in numbers] == list(ALL_LAWS)


def test_the_causes_of_failure_are_all_explained() -> None:
    rows = re.findall(r"^\| ([a-z ]+) \| ([A-Z][^|]+) \|$", text_of("docs/evaluation.md"), flags=re.MULTILINE)
    assert dict(rows) == CAUSES


@pytest.mark.parametrize(("kind", "options"), [("Checkpoints", CheckpointOptions), ("Endpoints", EndpointOptions)])
def test_the_options_of_agents_are_those_they_take(kind: str, options: type[BaseModel]) -> None:
    told = text_of("docs/evaluation.md").split(f"- **{kind}**:")[1].partition(".")[0]
    assert set(re.findall(r"`(\w+)`", told)) == set(options.model_fields)


def test_the_held_seeds_are_those_of_the_code() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (\d+–\d+) \|", text_of("docs/evaluation.md"), flags=re.MULTILINE))
    assert rows == {name: f"{seeds[0]}–{seeds[-1]}" for name, seeds in HELD.items()}


def test_every_kind_of_agent_is_named() -> None:
    names = re.findall(r"^\| `([^`]+)`(?:, `([^`]+)`)? \|", text_of("docs/evaluation.md"), flags=re.MULTILINE)
    assert {name for pair in names for name in pair if name} >= set(KINDS)


def test_the_axes_table_is_the_measured_matrix() -> None:
    spec = importlib.util.spec_from_file_location("matrix", ROOT / "tests" / "evaluation" / "test_axis_matrix.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lines = [line.split("|")[1:-1] for line in text_of("docs/environments.md").splitlines() if line.startswith("|")]
    start = next(number for number, cells in enumerate(lines) if cells[0].strip() == "axis")
    envs = [cell.strip() for cell in lines[start][1:]]
    written: dict[str, set[str]] = {}
    for cells in lines[start + 2 : start + 9]:
        for axis in re.findall(r"`(\w+)`", cells[0]):
            written[axis] = {env for env, cell in zip(envs, cells[1:], strict=True) if cell.strip()}
    assert written == {axis: set(reached) for axis, reached in module.MATRIX.items()}
