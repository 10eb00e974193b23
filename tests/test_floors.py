"""The order of the house: every module imports from floors below it only, and the front door costs nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# From the ground up. Rooms of one floor do not see each other.
FLOORS = (
    ("errors",),
    ("strict_json", "streams", "difficulty", "splits"),
    ("protocol", "rewards"),
    ("prompts",),
    ("catalog",),
    ("shop",),
    ("customer", "tools"),
    ("tasks",),
    ("intents",),
    ("collections", "episode"),
    ("trajectory",),
    ("environment",),
    ("curriculum", "replay"),
    ("agents",),
    ("evaluation", "training", "adapters"),
    ("cli", "components"),
    ("app", "__main__"),
)
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
# What `ecomrlve/__init__.py` hands out from the environment; its other names are plain facts about the package.
FRONT_DOOR, FACTS = "environment", ("__version__",)
HEAVY = (
    "torch", "faiss", "gradio", "transformers", "sentence_transformers", "datasets", "pandas", "plotly", "trl",
)  # fmt: skip


def module_name(path: Path) -> str:
    """Dotted name of a file of this repository; a package's name stands for its `__init__`."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """The room a module lies in: `ecomrlve.catalog.search` → catalog, `components.views` → components."""
    parts = module.split(".")
    return parts[1] if parts[0] == "ecomrlve" and len(parts) > 1 else parts[0]


def modules() -> dict[str, Path]:
    files = [*(ROOT / "ecomrlve").rglob("*.py"), *(ROOT / "components").rglob("*.py"), ROOT / "app.py"]
    return {module_name(path): path for path in files if path.exists()}


def rooms() -> set[str]:
    return {room_of(module) for module in modules()} - {"ecomrlve"}


def imported(source: str, package: str) -> list[tuple[int, str]]:
    """Line and room of everything that a source text imports from this repository, wherever the import stands.

    Args:
        source: Python text.
        package: The package it lies in, for relative imports.
    """
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{origin}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            top, _, rest = name.partition(".")
            if top in ("components", "app"):
                found.append((node.lineno, top))
            elif top == "ecomrlve":
                first = rest.partition(".")[0]
                if first in FACTS:
                    continue
                found.append((node.lineno, first if first in FLOOR_OF else FRONT_DOOR))
    return found


def violations(source: str, module: str, *, is_package: bool = False) -> list[str]:
    """The imports of a source text that go up, or sideways into another room."""
    package = module if is_package else module.rpartition(".")[0]
    own = room_of(module)
    return [
        f"{module}:{line} (floor {FLOOR_OF[own]}) imports {room} (floor {FLOOR_OF[room]})"
        for line, room in imported(source, package)
        if room != own and FLOOR_OF[room] >= FLOOR_OF[own]
    ]


def test_every_room_has_a_floor():
    assert rooms() - set(FLOOR_OF) == set()


def test_modules_import_from_their_own_room_or_from_lower_floors():
    assert len(modules()) > 50
    wrong = [
        problem
        for module, path in modules().items()
        if module != "ecomrlve"
        for problem in violations(path.read_text(encoding="utf-8"), module, is_package=path.name == "__init__.py")
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("ecomrlve.errors", "from ecomrlve.streams import Stream"),
        ("ecomrlve.streams", "from ecomrlve import difficulty"),
        ("ecomrlve.catalog.search", "from ecomrlve.shop.world import World"),
        ("ecomrlve.catalog.search", "from ..shop.world import World"),
        ("ecomrlve.shop.cart", "import ecomrlve.tools.base"),
        ("ecomrlve.tools.base", "def late():\n    from ecomrlve.customer.noise import slips"),
        ("ecomrlve.customer.ledger", "if TYPE_CHECKING:\n    from ecomrlve.tasks.base import Task"),
        ("ecomrlve.episode", "from ecomrlve.collections import TASKS"),
        ("ecomrlve.trajectory", "from ecomrlve import make"),
        ("ecomrlve.trajectory", "import ecomrlve"),
        ("ecomrlve.environment", "from ecomrlve.replay import verify"),
        ("ecomrlve.agents.base", "import os, ecomrlve.evaluation.laws as laws"),
        ("ecomrlve.cli", "from components import play"),
        ("ecomrlve.evaluation.report", "class A:\n    def b(self):\n        import app"),
        ("components.views", "import app"),
    ],
)
def test_the_check_sees_an_import_that_goes_up(module, source):
    assert len(violations(source, module)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("ecomrlve.catalog.search", "from ecomrlve.catalog.columns import Catalog\nfrom .columns import fold"),
        ("ecomrlve.shop.world", "from ecomrlve.catalog.search import SearchEngine"),
        ("ecomrlve.trajectory", "from ecomrlve import __version__\nfrom ecomrlve import episode"),
        ("ecomrlve.replay", "import ecomrlve.environment, numpy"),
        ("components.views", "import ecomrlve\nfrom components import session\nimport gradio"),
        ("app", "from components import play\nimport ecomrlve"),
    ],
)
def test_the_check_lets_imports_from_below_pass(module, source):
    assert violations(source, module) == []


def test_the_front_door_imports_nothing_of_its_own_before_it_is_asked():
    tree = ast.parse((ROOT / "ecomrlve" / "__init__.py").read_text(encoding="utf-8"))
    at_once = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    assert {getattr(node, "module", None) for node in at_once} <= {"__future__", "typing"}


@pytest.mark.parametrize(
    "statement",
    [
        "import ecomrlve; ecomrlve.__version__",
        "import ecomrlve.environment",
        "import ecomrlve, ecomrlve.agents.registry; ecomrlve.make, ecomrlve.Environment",
    ],
)
def test_heavy_libraries_are_not_imported_before_they_are_used(statement):
    script = f"import sys\n{statement}\nprint(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.stdout.strip(), run.returncode) == ("", 0), run.stderr


def test_the_version_alone_loads_no_other_module_of_the_package():
    script = "import sys, ecomrlve; ecomrlve.__version__; print(*sorted(m for m in sys.modules if 'ecomrlve' in m))"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert [name for name in run.stdout.split() if not name.startswith("__editable__")] == ["ecomrlve"]
