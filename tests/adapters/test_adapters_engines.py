"""Adapters name catalogs by text, since trainers hand nothing else on, and a process builds each engine once."""

import pytest

from ecomrlve.adapters._episodes import SILENCE, cells, left_alone, shared_engine
from ecomrlve.environment import Environment
from ecomrlve.errors import CatalogError, SeedError
from ecomrlve.protocol import parse_action


@pytest.fixture
def shop_file(tmp_path):
    colors = ("red", "blue", "green")
    rows = [f"Fine Mug {n},{8 + n % 7}.50,mug,{colors[n % 3]},{3 + n % 3}.5,{1 + n % 5},{5 + n}" for n in range(60)]
    header = "name,price,kind,colour,stars,days,units"
    (tmp_path / "shop.csv").write_text("\n".join([header, *rows]), encoding="utf-8")
    return str(tmp_path / "shop.csv")


def test_an_engine_is_built_once(shop_file, words_engine):
    engine = shared_engine(shop_file, words_only=True)
    assert len(engine.catalog) == 60
    assert shared_engine(shop_file, words_only=True) is engine
    assert shared_engine(words_engine) is words_engine


def test_the_default_catalog_has_two_names(catalog):
    engine = shared_engine(None, words_only=True)
    assert shared_engine("default", words_only=True) is engine
    assert engine.catalog.fingerprint == catalog.fingerprint


def test_what_is_no_catalog_is_refused(tmp_path):
    with pytest.raises(CatalogError):
        shared_engine(str(tmp_path / "nothing.csv"), words_only=True)


def test_cells_are_checked_before_the_first_one_comes():
    assert list(cells("C2", [0, 3], [100])) == [
        ("E_CART", 0, 100), ("E_CART", 3, 100), ("E_SUB", 0, 100), ("E_SUB", 3, 100),
    ]  # fmt: skip
    with pytest.raises(SeedError):
        cells("C1", [0], [-1])
    with pytest.raises(SeedError, match="test"):
        cells("C1", [0], [500, 10_007])


@pytest.mark.parametrize("env_id", ["E_CART", "E_JOURNEY"])
def test_silence_is_a_turn_in_which_nothing_happens(env_id, words_engine):
    assert parse_action(SILENCE).draft
    env = Environment((env_id,), words_engine)
    env.reset(seed=20_001, options={"difficulty": 9})
    reward = left_alone(env)
    assert env.episode.over
    assert reward.total < 0
    assert not reward.correct
    assert all(not step["tool_results"] and step["shop"]["cart"] == [] for step in env.episode.steps[:1])
