"""The commands that make, load, index and look at catalog folders, as a user types them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hub_table
import pytest

from ecomrlve import cli

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process: exit code, what it printed, what it complained about."""

    def run(*arguments: Any) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ecomrlve", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "200")
        capsys.readouterr()
        code: Any = 0
        try:
            cli.main()
        except SystemExit as end:
            code = end.code or 0
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def test_from_generating_to_certifying(run: Run, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    code, out, complaint = run("catalog", "generate", "--size", 1_200, "--seed", 4, "--out", shop, "--workers", 1)
    assert code == 0, complaint
    assert "1,200 products of 194 types" in out
    code, out, _ = run("catalog", shop)
    assert (code, json.loads(out)["products"]) == (0, 1_200)
    code, out, complaint = run("index", "build", shop, "--encoder", "static", "--quiet")
    assert code == 0, complaint
    assert json.loads(out)["count"] == 1_200
    code, out, _ = run("index", "info", shop)
    told = json.loads(out)
    assert code == 0
    assert told["words"]
    assert told["indexes"]["wordllama-256"]["checksum_ok"]
    code, out, _ = run("index", "verify", shop, "--queries", 20)
    assert (code, json.loads(out)["recall_at_10"]) == (0, 1.0)
    code, out, _ = run("certify", "--catalog", f"{shop}::static", "--envs", "E_PD,E_CART", "--difficulty", "0,5",
                       "--seeds", "0:2", "--law", "1", "--workers", 1, "--json")  # fmt: skip
    certificate = json.loads(out)
    assert (code, certificate["passed"], certificate["catalog"]["products"]) == (0, True, 1_200)


def test_damage_is_told_by_exit_code_and_name(run: Run, tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    run("catalog", "generate", "--size", 1_000, "--out", shop, "--workers", 1)
    stock = shop / "stock.npy"
    data = bytearray(stock.read_bytes())
    data[-2] ^= 7
    stock.write_bytes(bytes(data))
    code, out, _ = run("index", "info", shop)
    assert (code, json.loads(out)["damaged_files"]) == (1, ["stock.npy"])


def test_a_table_of_the_hubs_columns_is_loaded_with_its_card(run: Run, tmp_path: Path) -> None:
    table = tmp_path / "table.parquet"
    truth = hub_table.write(table, 300)
    code, out, complaint = run("catalog", "load", table, "--out", tmp_path / "shop")
    assert code == 0, complaint
    assert "table.parquet" in out
    code, out, _ = run("catalog", tmp_path / "shop")
    card = json.loads(out)["card"]
    assert card["read"] == len(truth) == card["kept"] + sum(card["dropped"].values())
    code, _, complaint = run("catalog", "load", table, "--out", tmp_path / "shop")
    assert code == 2
    assert "is there already" in complaint


def test_any_other_table_becomes_a_folder_by_its_mapping(run: Run, tmp_path: Path) -> None:
    lines = [f"Lamp {number},{5 + number}.99,lamp" for number in range(20)]
    (tmp_path / "lamps.csv").write_text("name,price,kind\n" + "\n".join(lines) + "\n")
    (tmp_path / "how.yaml").write_text("title: name\nprice: price\ntype: kind\n")
    source = f"{tmp_path / 'lamps.csv'}::{tmp_path / 'how.yaml'}"
    code, out, complaint = run("catalog", "load", source, "--out", tmp_path / "shop")
    assert code == 0, complaint
    assert json.loads(out)["kept"] == 20
    assert json.loads(run("catalog", tmp_path / "shop")[1])["name"] == "shop"
    assert run("catalog", "load", source, "--out", tmp_path / "other", "--limit", 3)[0] == 2


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("catalog", "generate", "--size", 10, "--out", "x"), "1,000 to 2,000,000"),
        (("catalog", "load", "no/such.parquet", "--out", "x"), "no/such.parquet"),
        (("index", "build", "nowhere"), "is no catalog folder"),
        (("index", "info", "nowhere"), "is no catalog folder"),
        (("index", "verify", "nowhere"), "is no catalog folder"),
        (("index", "build", "nowhere", "--shard", "3/2"), "not K/N"),
        (("index", "build", "nowhere", "--shard", "two"), "not K/N"),
        (("certify", "--catalog", "nowhere"), "nowhere"),
    ],
)
def test_a_mistake_is_one_readable_complaint(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[Any, ...], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, told = run(*arguments)
    assert code == 2
    assert complaint in told
    assert "Traceback" not in told
    assert not (tmp_path / "x").exists()


def test_an_index_is_verified_only_where_there_is_one(run: Run, tmp_path: Path) -> None:
    run("catalog", "generate", "--size", 1_000, "--out", tmp_path / "shop", "--workers", 1)
    code, _, told = run("index", "verify", tmp_path / "shop")
    assert code == 2
    assert "ecomrlve index build" in told.replace("\n", " ")
