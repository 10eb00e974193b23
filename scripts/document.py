"""Make what the documents show.

`trajectories` makes those of docs/environments.md, `dialogues` all of docs/dialogues.md, `curves` the picture of law 5.

Which episodes docs/environments.md shows stands in it: a comment before each names environment, d and seed. Those of
docs/dialogues.md stand here, in `DIALOGUES`.
Everything here is deterministic, so that a test can compare the document with what the code does now.
"""

from __future__ import annotations

import html
import itertools
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from ecomrlve.agents.base import play  # noqa: E402
from ecomrlve.agents.reference import ReferenceAgent  # noqa: E402
from ecomrlve.agents.slipping import SLIP, SlippingAgent  # noqa: E402
from ecomrlve.catalog.search import SearchEngine  # noqa: E402
from ecomrlve.collections import COLLECTIONS  # noqa: E402
from ecomrlve.difficulty import HIGHEST, LOWEST  # noqa: E402
from ecomrlve.environment import Environment  # noqa: E402
from ecomrlve.evaluation import monotone  # noqa: E402
from ecomrlve.evaluation.pool import engine_of  # noqa: E402
from ecomrlve.rewards import contributions  # noqa: E402

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__)

DOCUMENT = ROOT / "docs" / "environments.md"
DIALOGUE_PAGE = ROOT / "docs" / "dialogues.md"
CURVES = ROOT / "assets" / "pictures" / "monotone.json"
PICTURE = CURVES.with_suffix(".svg")

BLOCK = re.compile(
    r"(?P<mark><!-- trajectory (?P<env>E_[A-Z]+) d=(?P<d>\d+) seed=(?P<seed>\d+) -->\n)(?P<body>.*?)"
    r"(?P<end><!-- /trajectory -->)",
    re.DOTALL,
)
LONGEST_MESSAGE = 100  # characters of the agent's questions, which are long and say the same in every episode
LONGEST_LIST = 4  # values of a filter that are written out

# --- trajectories ----------------------------------------------------------------------------------------------------

COUNTED = {
    "results": "hits", "products": "products", "orders": "orders", "policies": "pages", "variants": "variants",
    "product_ids": "products", "lines": "lines in the cart", "events": "events",
}  # fmt: skip
TELLING = ("status", "eta", "delivered", "tier", "region", "eligible", "kind", "refund", "new_price", "today")
SIGNS = {"eq": " = ", "le": " ≤ ", "ge": " ≥ ", "in": " in "}


def record_of(engine: SearchEngine, env_id: str, d: int, seed: int) -> dict[str, Any]:
    """The record of the reference agent's episode."""
    return _played(engine, env_id, d, seed).trajectory().to_dict()


def _played(engine: SearchEngine, env_id: str, d: int, seed: int) -> Environment:
    env = Environment((env_id,), engine)
    play(env, ReferenceAgent(), seed, d)
    return env


def filled(document: str, engine: SearchEngine) -> str:
    """The document with every trajectory made anew."""

    def block(found: re.Match[str]) -> str:
        record = record_of(engine, found["env"], int(found["d"]), int(found["seed"]))
        return f"{found['mark']}{rendered(record)}\n{found['end']}"

    return BLOCK.sub(block, document)


def rendered(record: Mapping[str, Any]) -> str:
    """An episode in compact Markdown: who said what, what was called and how much came back, the goal, the reward."""
    lines = [f"- **Customer:** {_plain(record['opening']['text'])}"]
    message = ""
    for step in record["steps"]:
        lines += _turn(step, message, record["env_id"])
        message = step["canonical"].get("assistant_message", "")
    reward = record["reward"]
    added = contributions(reward["task"], reward["efficiency"], reward["hallucination"])
    total = f"**Reward {reward['total']:+.2f}** = {added['task']:+.2f} task {added['efficiency']:+.2f} efficiency "
    total = f"{total}{added['hallucination']:+.2f} hallucination.".replace("-", "−") + f" {_plain(reward['reason'])}"
    parts = reward["parts"]
    kept = {key: value for key, value in parts.items() if key not in ("turns", "user_turns", "intents")}
    total += f" {_count(parts['turns'], 'turns')}, {parts['user_turns']} not counted; {_plain(_pairs(kept))}."
    return "\n".join([*lines, "", f"**Goal:** {_goal(record['goal'])}", "", total])


def _turn(step: Mapping[str, Any], asked_before: str, env_id: str) -> list[str]:
    """One agent turn and the customer's reply."""
    action, said = step["canonical"], []
    message = action.get("assistant_message", "")
    if message:
        said.append("asks the same again" if message == asked_before else f"“{_plain(_cut(message))}”")
    if "answer" in action:
        given = {key: value for key, value in action["answer"].items() if value not in ("", []) and key != "done"}
        said.append(f"answers {_code(_pairs(given) or 'done')}")
    lines = [f"- **{step['turn']}** " + ("; ".join(said) or "says nothing")]
    lines += [f"  - {_code(call)} → {size}" for call, size in _calls(step["tool_results"])]
    if gone := len(step["shop"]["sold_out"]):
        lines.append(f"  - then {gone} of what was first seen in this turn {'sells' if gone == 1 else 'sell'} out")
    if env_id in ("E_POLICY", "E_RETURN"):
        for result in step["tool_results"]:
            lines += _page(result["result"])
    reply = step["customer"]
    if reply is not None:
        free = ", turn not counted" if step["discounted"] else ""
        lines += [f"- **Customer** ({', '.join(reply['acts'])}{free}): {_plain(reply['text'])}"]
    return lines


def _calls(results: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The calls of a turn with the size of what came back; the pages of one list together."""
    found: list[tuple[str, str]] = []
    for key, group in itertools.groupby(results, _without_page):
        pages = list(group)
        first = pages[0]
        if len(pages) == 1 or "page" not in first["args"]:
            found += [(_call(one["name"], one["args"]), _size(one["result"])) for one in pages]
            continue
        merged: dict[str, Any] = dict(pages[-1]["result"])
        for name in COUNTED:
            if name in merged:
                merged[name] = [entry for page in pages for entry in page["result"].get(name, [])]
        numbers = f"{first['args']['page']} … {pages[-1]['args']['page']}"
        found.append((_call(key[0], first["args"] | {"page": numbers}, bare="page"), _size(merged)))
    return found


def _without_page(result: Mapping[str, Any]) -> tuple[str, str]:
    args = {key: value for key, value in result["args"].items() if key != "page"}
    return result["name"], json.dumps(args, sort_keys=True)


def _call(name: str, args: Mapping[str, Any], bare: str = "") -> str:
    """A call in short; the argument `bare` as it is."""
    shown = (f"{key}={value if key == bare else _argument(value)}" for key, value in args.items() if value != {})
    return f"{name}({', '.join(shown)})"


def _argument(value: Any) -> str:
    """An argument in few characters; filters as people write them."""
    if isinstance(value, dict):
        return "{" + ", ".join(_filter(key, wanted) for key, wanted in value.items()) + "}"
    if isinstance(value, str):
        return f'"{_cut(value)}"'
    return json.dumps(value, ensure_ascii=False)


def _filter(key: str, wanted: Any) -> str:
    if wanted is True:
        return key
    if not isinstance(wanted, dict):
        return f"{key} = {wanted}"
    return ", ".join(f"{key}{SIGNS[operator]}{_listed(value)}" for operator, value in wanted.items())


def _listed(value: Any) -> str:
    if not isinstance(value, list):
        return str(value)
    return f"{len(value)} values" if len(value) > LONGEST_LIST else " or ".join(map(str, value))


def _size(result: Mapping[str, Any]) -> str:
    """How much came back."""
    if "error" in result:
        return f"refused: {result['error']['code']}"
    found = [_count(len(result[key]), name) for key, name in COUNTED.items() if isinstance(result.get(key), list)]
    found += [f"{key} {result[key]}" for key in TELLING if result.get(key) is not None]
    return ", ".join(found) + (", and there are more" if result.get("more") else "") if found else "done"


def _page(result: Mapping[str, Any]) -> list[str]:
    """The help page that came back, folded away."""
    pages = result.get("policies") or ([result] if "policy_id" in result else [])
    lines: list[str] = []
    for page in pages[:1]:
        title, *text = [html.escape(line).replace("$", "&#36;") for line in page["text"].split("\n") if line.strip()]
        lines.append(f"  - <details><summary>the page “{title}”</summary>{'<br>'.join(text)}</details>")
    return lines


def _goal(goal: Mapping[str, Any]) -> str:
    """What was wanted, in one or two lines."""
    env_id = goal["env_id"]
    if "intents" in goal:
        return "<br>".join(
            ["", *(f"{number}. {_plain(one['env_id'])}: {_goal(one)}" for number, one in _numbered(goal))]
        )
    if env_id == "E_CART":
        return "; ".join(_cart_item(item) for item in goal["items"])
    if env_id in ("E_PD", "E_SUB"):
        what = f"{_plain(goal['type'])} with {_plain(', '.join(goal['constraints']))}"
        if env_id == "E_SUB":
            what += (
                f"; equal in {_plain(goal['compatible_by'])}"
                if goal["compatible_by"]
                else "; no attribute must be equal"
            )
        else:
            what += f"; first by {_plain(', then by '.join(goal['priorities']))}"
        return f"{what}. {len(goal['feasible'])} products fit, the best are {', '.join(goal['best'])}."
    if env_id == "E_RETURN":
        line = f"line {goal['line_id']} ({_plain(goal['product'])}) of order {goal['order_id']}"
        what = f"{_plain(goal['decision'])} for {line}, delivered {goal['delivered']}, {goal['days_since_delivery']} "
        what += f"days ago; the window is {goal['window_days']} days"
        what += f", so the last day is {goal['last_return_day']}" if goal["last_return_day"] else ": never"
        return what + (f"; the best replacement is {goal['best'][0]['product_id']}." if goal["best"] else ".")
    if env_id == "E_STATUS":
        return f"order {goal['order_id']}, {_plain(goal['status'])}" + (
            f", arriving {goal['eta']}." if goal["eta"] else "."
        )
    if env_id == "E_POLICY":
        facts = [f"{fact['attribute']} {fact['value']} ({fact['source']})" for fact in goal["facts"]]
        by = f"the page “{_plain(goal['page'])}”" + "".join(f", {_plain(fact)}" for fact in facts)
        return f"{_plain(goal['answer'])}, by {by}."
    parts = [f"{p['type']} ({', '.join(p['constraints']) or 'any'}: {p['fitting']} fit)" for p in goal["parts"]]
    tie = goal["tie"]
    same = f"; {' and '.join(tie['types'])} with the same {tie['attribute']}" if tie else ""
    return (
        f"{_plain(', '.join(parts))}{_plain(same)}; \\${goal['budget']} for all. The cheapest such basket costs "
        f"\\${goal['cost']:.2f}, and {goal['share_within_budget']:.1%} of all such baskets are within the budget."
    )


def _numbered(goal: Mapping[str, Any]) -> list[tuple[int, Mapping[str, Any]]]:
    return list(enumerate(goal["intents"], start=1))


def _cart_item(item: Mapping[str, Any]) -> str:
    named = [item["title"], *(item["variant"] or {}).values()]
    note = f" ({item['note']})" if item["note"] else ""
    return f"{item['qty']} × {_plain(', '.join(map(str, named)) + note)}"


def _pairs(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {_value(value)}" for key, value in values.items())


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _count(number: int, name: str) -> str:
    return f"{number:,} {name}" if number != 1 else f"1 {name.replace('lines', 'line') if ' ' in name else name[:-1]}"


def _cut(text: str) -> str:
    """The beginning of a long text, up to a word's end."""
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE].rsplit(' ', 1)[0].rstrip(',')} …"


def _plain(text: str) -> str:
    """A text that Markdown shows as it is, in one line."""
    return re.sub(r"([\\`*_<>\[\]#|~$])", r"\\\1", " ".join(text.split()))


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39))}`"


# --- dialogues -------------------------------------------------------------------------------------------------------

# (environment, d, seed): all environments, four difficulties, and each of the five styles twice.
DIALOGUES = (
    ("E_PD", 0, 12),
    ("E_CART", 0, 7),
    ("E_SUB", 4, 41),
    ("E_RETURN", 4, 12),
    ("E_STATUS", 4, 7),
    ("E_POLICY", 8, 16),
    ("E_BUNDLE", 8, 21),
    ("E_CART", 8, 56),
    ("E_PD", 12, 3),
    ("E_JOURNEY", 12, 19),
)  # fmt: skip
INTRODUCTION = """\
# Ten dialogues

Ten whole episodes of the [reference agent](../ecomrlve/agents/reference.py) with the built-in customer, as chats;
what they are about and how they are scored stands in [The eight environments](environments.md). Typing errors are the
customer's own; a grey line says which tools were called, how often (×) and how much came back, and a question that is
word for word the last one is not written again. The page is made by `python scripts/document.py dialogues`, and a
test compares.
"""


def dialogue_of(engine: SearchEngine, env_id: str, d: int, seed: int) -> tuple[dict[str, Any], str]:
    """The record of the reference agent's episode, and the style of its customer."""
    env = _played(engine, env_id, d, seed)
    return env.trajectory().to_dict(), env.episode.problem.persona.style


def dialogue_page(found: Sequence[tuple[Mapping[str, Any], str]]) -> str:
    """The whole page of the records and styles that `dialogue_of` gives."""
    parts = [INTRODUCTION]
    for number, (record, style) in enumerate(found, start=1):
        about = f"{record['env_id']}, d = {record['difficulty']}, seed {record['seed']}: {style}"
        parts.append(f"## {number}. {about}\n\n{chat(record)}\n")
    return "\n".join(parts)


def chat(record: Mapping[str, Any]) -> str:
    """An episode as a chat: what was said, the tool calls in a line each turn, the answers."""
    lines = [f"**Customer:** {_plain(record['opening']['text'])}"]
    asked_before = ""
    for step in record["steps"]:
        action = step["canonical"]
        message = action.get("assistant_message", "")
        if message:
            lines.append(f"**Agent:** {'*(asks the same again)*' if message == asked_before else _plain(message)}")
        asked_before = message
        if step["tool_results"]:
            lines.append(f"> {_calls_in_short(step['tool_results'])}")
        if "answer" in action:
            given = {key: value for key, value in action["answer"].items() if value not in ("", []) and key != "done"}
            lines.append(f"**Answer:** {_code(_pairs(given) or 'done')}")
        if step["customer"] is not None:
            lines.append(f"**Customer:** {_plain(step['customer']['text'])}")
    return "\n\n".join(lines)


def _calls_in_short(results: Sequence[Mapping[str, Any]]) -> str:
    """The tools of a turn, each with how often it was called and how much came back of all its calls together."""
    by_name: dict[str, list[Mapping[str, Any]]] = {}
    for result in results:
        by_name.setdefault(result["name"], []).append(result["result"])
    return "; ".join(_tool_in_short(name, came) for name, came in by_name.items())


def _tool_in_short(name: str, came: Sequence[Mapping[str, Any]]) -> str:
    counts: list[str] = []
    for key, what in COUNTED.items():
        sizes = [len(result[key]) for result in came if isinstance(result.get(key), list)]
        if sizes:
            # Every answer about the cart holds all of it.
            counts.append(_count(sizes[-1] if key == "lines" else sum(sizes), what))
    counts += [f"refused: {_plain(result['error']['code'])}" for result in came if "error" in result]
    times = f" ×{len(came)}" if len(came) > 1 else ""
    return _plain(name) + times + (f" ({', '.join(counts)})" if counts else "")


# --- the curves of law 5 ---------------------------------------------------------------------------------------------

WIDTH, HEIGHT = 860, 460
LEFT, RIGHT, TOP, BOTTOM = 62, 680, 46, 404  # the frame; right of it stand the names
LOWEST_MEAN = -1.0
LABEL_GAP = 21
GRAY = "#6e7781"
# One color per environment, each with a contrast of at least 3 on white and on GitHub's dark background.
COLORS = ("#3b82f6", "#d9730d", "#2da44e", "#e5534b", "#986ee2", "#a0793d", "#1b9e9e", "#d1578f")


def measured(engine: SearchEngine, seeds: int, workers: int, progress: bool = True) -> dict[str, Any]:
    """Law 5's curves with what they were measured on, ready for JSON."""
    envs, levels = COLLECTIONS["C8"], range(LOWEST, HIGHEST + 1)
    found = monotone.curves(engine, envs, levels, range(seeds), workers, progress)
    rounded = {
        env_id: [{"d": p["d"], "mean": round(p["mean"], 4), "error": round(p["error"], 4)} for p in points]
        for env_id, points in found.items()
    }
    about = {"agent": SlippingAgent.name, "slip": SLIP, "seeds": seeds, "search": engine.method}
    return about | {"catalog": engine.catalog.name, "fingerprint": engine.catalog.fingerprint, "curves": rounded}


def horizontal(d: float) -> float:
    """Where a difficulty stands, in pixels."""
    return LEFT + 14 + (RIGHT - LEFT - 28) * (d - LOWEST) / (HIGHEST - LOWEST)


def vertical(mean: float) -> float:
    """Where a mean r_task stands, in pixels."""
    return BOTTOM - (BOTTOM - TOP) * (mean - LOWEST_MEAN) / (1 - LOWEST_MEAN)


def drawn(figures: Mapping[str, Any]) -> str:
    """The curves as SVG, transparent and in colors that can be read by day and by night."""
    curves: Mapping[str, Sequence[Mapping[str, float]]] = figures["curves"]
    text = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'font-family="system-ui, sans-serif" font-size="13" fill="{GRAY}" role="img" aria-labelledby="title">',
        '<title id="title">Mean r_task of an imperfect agent by difficulty, one line per environment</title>',
        f'<text x="{LEFT}" y="22" font-size="14" font-weight="600">Mean r_task of an agent that slips, with one '
        f"standard error ({figures['seeds']} seeds per point)</text>",
    ]
    for tick in (-1.0, -0.5, 0.0, 0.5, 1.0):
        y = vertical(tick)
        strength = 0.6 if tick == 0 else 0.25
        text.append(f'<path d="M{LEFT} {y:.2f}H{RIGHT}" stroke="{GRAY}" stroke-opacity="{strength}"/>')
        sign = "−" if tick < 0 else "+" if tick > 0 else ""
        label = f'<text class="mean" x="{LEFT - 10}" y="{y:.2f}" text-anchor="end" dominant-baseline="middle">'
        text.append(f"{label}{sign}{abs(tick):.1f}</text>")
    for d in range(LOWEST, HIGHEST + 1):
        where = f'x="{horizontal(d):.2f}" y="{BOTTOM + 20}" text-anchor="middle"'
        text.append(f'<text class="difficulty" {where}>{d}</text>')
    middle = f'x="{(LEFT + RIGHT) / 2:.0f}" y="{BOTTOM + 44}" text-anchor="middle"'
    text.append(f"<text {middle}>difficulty d</text>")
    places = _label_places({env_id: vertical(points[-1]["mean"]) for env_id, points in curves.items()})
    for (env_id, points), color in zip(curves.items(), COLORS, strict=False):
        text += _curve(env_id, points, color, places[env_id])
    return "\n".join([*text, "</svg>"]) + "\n"


def _curve(env_id: str, points: Sequence[Mapping[str, float]], color: str, place: float) -> list[str]:
    """One environment: error bars, line, points, and its name at the end."""
    spots = [(horizontal(point["d"]), vertical(point["mean"])) for point in points]
    bars = "".join(
        f"M{x:.2f} {vertical(point['mean'] - point['error']):.2f}V{vertical(point['mean'] + point['error']):.2f}"
        for (x, _), point in zip(spots, points, strict=True)
    )
    line = "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in spots)
    dots = "".join(f'<circle cx="{x:.2f}" cy="{y:.2f}" r="2.6" fill="{color}" stroke="none"/>' for x, y in spots)
    x, y = spots[-1]
    leader = f"M{x + 6:.2f} {y:.2f}L{RIGHT + 14} {place:.2f}"
    last = f"{points[-1]['mean']:+.2f}".replace("-", "−")
    where = f'x="{RIGHT + 20}" y="{place:.2f}" dominant-baseline="middle"'
    name = f'<text {where} font-weight="600" fill="{color}" stroke="none">'
    return [
        f'<g data-environment="{env_id}" fill="none" stroke="{color}">',
        f'<path class="errors" d="{bars}" stroke-opacity="0.5" stroke-width="1.5"/>',
        f'<path class="line" d="{line}" stroke-width="2" stroke-linejoin="round"/>',
        dots,
        f'<path d="{leader}" stroke-opacity="0.4"/>',
        f'{name}{env_id} <tspan font-weight="400">{last}</tspan></text>',
        "</g>",
    ]


def _label_places(wanted: Mapping[str, float]) -> dict[str, float]:
    """Heights for the names, in the order of the line ends, none nearer to the next than a line of text."""
    order = sorted(wanted, key=lambda env_id: wanted[env_id])
    places: dict[str, float] = {}
    floor = float(TOP)
    for left, env_id in zip(range(len(order), 0, -1), order, strict=True):
        # Not so low that those that follow have no room.
        places[env_id] = max(floor, min(wanted[env_id], BOTTOM - LABEL_GAP * (left - 1)))
        floor = places[env_id] + LABEL_GAP
    return places


@app.command()
def curves(
    words_only: Annotated[bool, typer.Option("--words-only", help="search by words alone")] = False,
    seeds: Annotated[int, typer.Option(help="seeds per environment and difficulty", min=2)] = 60,
    workers: Annotated[int, typer.Option(help="processes", min=1)] = 2,
    figures: Annotated[Path, typer.Option(help="where the numbers go; the picture goes beside it")] = CURVES,
    redraw: Annotated[bool, typer.Option("--redraw", help="draw the numbers that are there, play nothing")] = False,
) -> None:
    """Measure law 5's curves over all environments and difficulties, and draw them."""
    if not redraw:
        found = measured(engine_of("default", words_only=words_only), seeds, workers)
        figures.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    read = json.loads(figures.read_text(encoding="utf-8"))
    figures.with_suffix(".svg").write_text(drawn(read), encoding="utf-8")


@app.command()
def trajectories(
    document: Annotated[Path, typer.Option(help="the document whose trajectories are made anew")] = DOCUMENT,
) -> None:
    """Make the document's trajectories anew, with the default catalog and search by words."""
    engine = engine_of("default", words_only=True, progress=False)
    document.write_text(filled(document.read_text(encoding="utf-8"), engine), encoding="utf-8")


@app.command()
def dialogues(page: Annotated[Path, typer.Option(help="the page that is written")] = DIALOGUE_PAGE) -> None:
    """Write the page of dialogues, with the default catalog and search by words."""
    engine = engine_of("default", words_only=True, progress=False)
    page.write_text(dialogue_page([dialogue_of(engine, *one) for one in DIALOGUES]), encoding="utf-8")


if __name__ == "__main__":
    app()
