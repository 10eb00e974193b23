"""Department files: the packaged ones fit together, and whatever does not is named and refused."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from ecomrlve.catalog.departments import holds, read_goods
from ecomrlve.catalog.synthetic import generate
from ecomrlve.errors import CatalogError

LAMP: dict[str, Any] = {
    "name": "lava lamp",
    "category": ["Lamps"],
    "price": 30,
    "attributes": {
        "height": [20, 25, 30, 40],
        "power": [20, 25, 30, 40],
        "color": {"red": 2, "blue": 1},
        "bottle": {"glass": 3, "plastic": 1},
        "dimmable": {"yes": 1, "no": 1},
        "finish": {"matte": 1, "glossy": 1},
    },
    "raises_price": ["height"],
    "variant": {"attribute": "wax", "values": ["Amber", "Violet", "Lime", "Coral", "Ivory"]},
    "features": ["Warm glow", "Quiet", "Spare bulb"],
    "uses": ["parties", "bedrooms"],
}
DEPARTMENT: dict[str, Any] = {
    "department": "Glow",
    "brands": [{"name": "Blobbins", "level": 1.0, "quality": 0.5}, {"name": "Waxwell", "level": 0.8, "quality": 0.4}],
    "attributes": {
        "bottle": {"label": "bottle", "synonyms": ["vessel"]},
        "dimmable": {"label": "dimmable"},
        "height": {"label": "height", "unit": "cm"},
        "power": {"label": "power", "unit": "W"},
        "color": {"label": "color"},
        "finish": {"label": "finish"},
    },
    "types": [LAMP],
}


@pytest.fixture
def write(tmp_path):
    """Writes department files and returns their folder."""

    def write(**files: Any):
        for name, content in files.items():
            text = content if isinstance(content, str) else yaml.safe_dump(content)
            (tmp_path / f"{name}.yaml").write_text(text, "utf-8")
        return tmp_path

    return write


def changed(**changes: Any) -> dict[str, Any]:
    """The department with changes to its only type."""
    department = copy.deepcopy(DEPARTMENT)
    department["types"][0].update(changes)
    return department


def attributes(**changes: Any) -> dict[str, Any]:
    """The type's attributes with changes; None takes one out."""
    return {key: value for key, value in {**LAMP["attributes"], **changes}.items() if value is not None}


def test_the_packaged_departments_fit_together():
    goods = read_goods()
    assert goods is read_goods()
    for _, kind in goods.types():
        assert 6 <= len(kind.attributes) <= 8, kind.name
        texts = " | ".join([*kind.features, *kind.uses])
        assert not any(holds(texts, value) for value in kind.variant.values), kind.name


def test_series_words_are_many():
    words = read_goods().words.series.split()
    assert len(words) == len(set(words)) >= 250


def test_a_folder_of_its_own(write):
    catalog = generate(1_000, folder=write(glow=DEPARTMENT))
    assert catalog.name == "generated-1000-0"
    assert catalog.type_names == ["lava lamp"]
    assert catalog.variant_rules == {"lava lamp": ("wax", ("Amber", "Violet", "Lime", "Coral", "Ivory"))}
    assert len({title.split(",")[0] for title in catalog.titles}) > 50


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(CatalogError, match="no department files"):
        generate(1_000, folder=tmp_path)


BROKEN = {
    "unknown attribute": (changed(attributes=attributes(sparkle={"some": 1, "lots": 1})), "'sparkle' is declared nowh"),
    "few attributes": (changed(attributes=attributes(finish=None)), "fewer than 6"),
    "few numbers": (changed(attributes=attributes(power=None, wick={"a": 1, "b": 1})), "'wick' is declared nowhere"),
    "variant attribute": (changed(variant={**LAMP["variant"], "attribute": "bottle"}), "'bottle' is one of its attr"),
    "variant common": (changed(variant={**LAMP["variant"], "attribute": "price"}), "'price' is taken"),
    "variant value in values": (changed(variant={"attribute": "wax", "values": [*"abcd", "Red"]}), "'Red' stands in"),
    "variant value in noun": (changed(variant={"attribute": "wax", "values": [*"abcd", "Lamp"]}), "'Lamp' stands in"),
    "few variants": (changed(variant={"attribute": "wax", "values": ["A", "B"]}), "at least 5"),
    "numbers as words": (changed(attributes=attributes(height={"tall": 1, "low": 1})), "'height' must be a list"),
    "words as numbers": (changed(attributes=attributes(color=[1, 2, 3, 4])), "'color' must be a mapping"),
    "descending": (changed(attributes=attributes(height=[40, 30, 20, 10])), "ascending"),
    "zero weight": (changed(attributes=attributes(color={"red": 0, "blue": 1})), "positive weights"),
    "slash": (changed(attributes=attributes(color={"red/blue": 1, "blue": 1})), "cannot be said"),
    "bare yes": (changed(attributes=attributes(dimmable={True: 1, False: 1})), "quote yes and no"),
    "price effect": (changed(raises_price=["color"]), "'color', which is no numeric"),
    "noun": (changed(nouns=["Lamp"]), "lacks a word"),
    "upper case": (changed(name="Lava Lamp"), "lower case"),
    "misspelt key": (changed(colour="red"), "colour"),
    "no price": (changed(price=0), "greater than 0"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_does_not_fit_is_refused(write, name):
    department, message = BROKEN[name]
    with pytest.raises(CatalogError) as caught:
        generate(1_000, folder=write(glow=department))
    assert message in str(caught.value)
    assert "glow.yaml" in str(caught.value)
    assert "lava lamp" in str(caught.value).lower()


def second(**changes: Any) -> dict[str, Any]:
    """Another department, with a type, brands and attributes of its own but for the changes."""
    department = copy.deepcopy(DEPARTMENT) | {"department": "More", "attributes": {}}
    department["brands"] = [
        {"name": "Glimmo", "level": 1.0, "quality": 0.5},
        {"name": "Lumpet", "level": 1, "quality": 1},
    ]
    department["types"][0]["name"] = "plasma ball"
    return department | changes


def test_two_departments(write):
    catalog = generate(1_000, folder=write(glow=DEPARTMENT, more=second()))
    assert catalog.type_names == ["lava lamp", "plasma ball"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"attributes": {"bottle": {"label": "flask"}}}, "attribute 'bottle' means something else"),
        ({"attributes": {"price": {"label": "cost"}}}, "'price' cannot be an attribute's name"),
        ({"attributes": {"Bottle Size": {"label": "size"}}}, "cannot be an attribute's name"),
        ({"types": [LAMP]}, "type 'lava lamp' is already in glow.yaml"),
        ({"brands": DEPARTMENT["brands"]}, "brand 'Blobbins' is already in glow.yaml"),
        ({"department": "GLOW"}, "department 'GLOW' is already in glow.yaml"),
    ],
)
def test_departments_that_contradict_each_other_are_refused(write, changes, message):
    with pytest.raises(CatalogError) as caught:
        generate(1_000, folder=write(glow=DEPARTMENT, more=second(**changes)))
    assert message in str(caught.value)
    assert "more.yaml" in str(caught.value)


@pytest.mark.parametrize("text", ["department: [", "", "- a\n- b", "\x00"])
def test_files_that_are_no_department_are_refused(write, text):
    with pytest.raises(CatalogError, match=r"glow\.yaml"):
        generate(1_000, folder=write(glow=text))
