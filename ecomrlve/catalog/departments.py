"""The written part of the default catalog: departments, brands, product types and attributes, read and checked.

Everything in `goods/*.yaml` is invented. The checks are strict, because a type that lacks an attribute, or an
attribute that means two things, would show up much later as a problem without a solution.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ecomrlve.catalog.columns import COMMON, fold
from ecomrlve.catalog.filters import SHOP_KEYS
from ecomrlve.catalog.product import Attribute
from ecomrlve.errors import CatalogError

FOLDER = Path(__file__).parent / "goods"
SHARED, WORDS = "_shared.yaml", "_words.yaml"
LEAST_ATTRIBUTES, LEAST_NUMBERS, LEAST_CATEGORIES = 6, 2, 3


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BrandSpec(_Spec):
    """A brand: what it multiplies prices by, and how good its products are (0 to 1)."""

    name: str = Field(min_length=2)
    level: float = Field(ge=0.3, le=3)
    quality: float = Field(ge=0, le=1)


class AttributeSpec(_Spec):
    """An attribute as written; with a unit (also an empty one) it is a number."""

    label: str = Field(min_length=1)
    unit: str | None = None
    kind: Literal["number", "category"] | None = None
    better: Literal["more", "less", ""] = ""
    synonyms: tuple[str, ...] = ()

    def attribute(self, name: str) -> Attribute:
        """The same as the store knows it."""
        number = self.kind == "number" or (self.kind is None and self.unit is not None)
        return Attribute(
            name, "number" if number else "category", self.label, self.unit or "", self.synonyms, self.better
        )


class VariantSpec(_Spec):
    """What the variants of a type's products differ in."""

    attribute: str
    values: tuple[str, ...] = Field(min_length=5)


class TypeSpec(_Spec):
    """A product type. Attributes map to levels (numbers) or to words with weights (categories)."""

    name: str = Field(min_length=2)
    category: tuple[str, ...] = Field(min_length=1)
    price: float = Field(gt=0)
    nouns: tuple[str, ...] = ()
    attributes: dict[str, tuple[int | float, ...] | dict[str, float]]
    raises_price: tuple[str, ...] = ()
    variant: VariantSpec
    natural_variants: bool = False
    features: tuple[str, ...] = Field(min_length=3)
    uses: tuple[str, ...] = Field(min_length=2)

    def words(self) -> set[str]:
        """Every single word, folded, that an attribute value or a variant of this type consists of."""
        texts: list[str] = [*self.variant.values]
        for values in self.attributes.values():
            texts += values if isinstance(values, dict) else ()
        return {word for text in texts for word in fold(text).replace("-", " ").split()}


class DepartmentSpec(_Spec):
    """One file: a department of the shop."""

    department: str = Field(min_length=2)
    brands: tuple[BrandSpec, ...] = Field(min_length=2)
    attributes: dict[str, AttributeSpec] = {}
    types: tuple[TypeSpec, ...] = Field(min_length=1)


class WordsSpec(_Spec):
    """Words for series names, and syllables for the brands that large catalogs need besides."""

    series: str
    starts: str
    middles: str
    ends: str


@dataclass(frozen=True)
class Goods:
    """All departments together, checked.

    Attributes:
        departments: In the order of their files' names.
        attributes: Every attribute that a type uses or a file declares.
        words: Series words and brand syllables.
    """

    departments: tuple[DepartmentSpec, ...]
    attributes: dict[str, Attribute]
    words: WordsSpec

    def types(self) -> list[tuple[DepartmentSpec, TypeSpec]]:
        """Every type with its department."""
        return [(department, kind) for department in self.departments for kind in department.types]


def read_goods(folder: Path | None = None) -> Goods:
    """Read and check a folder of department files.

    Args:
        folder: Where they are; the ones of this package where None, which are read once per process.

    Raises:
        CatalogError: A file that cannot be read or does not fit together with the others; names file and type.
    """
    return _packaged() if folder is None else _read(Path(folder))


@lru_cache(maxsize=1)
def _packaged() -> Goods:
    return _read(FOLDER)


def _read(folder: Path) -> Goods:
    words = _parsed(folder / WORDS if (folder / WORDS).exists() else FOLDER / WORDS, WordsSpec)
    attributes: dict[str, Attribute] = {}
    if (folder / SHARED).exists():
        _declare(attributes, SHARED, _parsed(folder / SHARED, _SharedSpec).attributes)
    files = sorted(path for path in folder.glob("*.yaml") if not path.name.startswith("_"))
    if not files:
        raise CatalogError(f"{folder} holds no department files (*.yaml)")
    departments = {path.name: _parsed(path, DepartmentSpec) for path in files}
    for file, department in departments.items():
        _declare(attributes, file, department.attributes)
    for file, department in departments.items():
        for kind in department.types:
            for problem in _problems(kind, attributes):
                raise CatalogError(f"{file}: type {kind.name!r}: {problem}")
    for what, names in (
        ("department", [(file, d.department) for file, d in departments.items()]),
        ("type", [(file, kind.name) for file, d in departments.items() for kind in d.types]),
        ("brand", [(file, brand.name) for file, d in departments.items() for brand in d.brands]),
    ):
        _unique(what, names)
    return Goods(tuple(departments.values()), attributes, words)


class _SharedSpec(_Spec):
    attributes: dict[str, AttributeSpec]


def _parsed(path: Path, model: Any) -> Any:
    try:
        return model.model_validate(yaml.load(path.read_text("utf-8"), yaml.CSafeLoader))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise CatalogError(f"{path.name} cannot be read: {error}") from error
    except ValidationError as error:
        # YAML reads a bare yes as true, which is then wrong in several ways; one of them says so.
        errors = error.errors()
        bare = next((found for found in errors if isinstance(found["input"], bool)), None)
        first = bare or errors[0]
        hint = "; quote yes and no" if bare else ""
        raise CatalogError(f"{path.name}: {_place(first['loc'], path)}: {first['msg']}{hint}") from error


def _place(location: tuple[int | str, ...], path: Path) -> str:
    """Where in a file something is wrong, with the type's name instead of its number."""
    location = tuple(part for part in location if not (isinstance(part, str) and "[" in part))
    if len(location) > 1 and location[0] == "types" and isinstance(location[1], int):
        name = yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)["types"][location[1]]
        name = name.get("name") if isinstance(name, dict) else name
        return ".".join([f"type {name!r}", *map(str, location[2:])])
    return ".".join(map(str, location)) or "the file"


def _declare(attributes: dict[str, Attribute], file: str, specs: dict[str, AttributeSpec]) -> None:
    for name, spec in specs.items():
        if name in COMMON or name in SHOP_KEYS or not name.replace("_", "a").isalnum() or name != name.lower():
            raise CatalogError(f"{file}: {name!r} cannot be an attribute's name: it is taken or not snake_case")
        found = spec.attribute(name)
        if spec.kind == "category" and spec.unit is not None:
            raise CatalogError(f"{file}: attribute {name!r} is a category, which has no unit")
        if attributes.setdefault(name, found) != found:
            raise CatalogError(f"{file}: attribute {name!r} means something else elsewhere: {attributes[name]}")


def _unique(what: str, names: Iterable[tuple[str, str]]) -> None:
    seen: dict[str, str] = {}
    for file, name in names:
        if fold(name) in seen:
            raise CatalogError(f"{file}: {what} {name!r} is already in {seen[fold(name)]}")
        seen[fold(name)] = file


def _problems(kind: TypeSpec, attributes: dict[str, Attribute]) -> Iterable[str]:
    """What is wrong with a type, in words."""
    unknown = [name for name in kind.attributes if name not in attributes]
    if unknown:
        yield f"attribute {unknown[0]!r} is declared nowhere"
        return
    numbers = [name for name in kind.attributes if attributes[name].kind == "number"]
    if len(kind.attributes) < LEAST_ATTRIBUTES:
        yield f"has {len(kind.attributes)} attributes, fewer than {LEAST_ATTRIBUTES}"
    if len(numbers) < LEAST_NUMBERS or len(kind.attributes) - len(numbers) < LEAST_CATEGORIES:
        yield f"needs at least {LEAST_NUMBERS} numeric attributes and {LEAST_CATEGORIES} categories"
    for name, values in kind.attributes.items():
        yield from _value_problems(name, values, name in numbers)
    labels = [*(info.label for info in COMMON.values()), *(attributes[name].label for name in kind.attributes)]
    if len(set(map(fold, labels))) < len(labels):
        yield "two attributes have the same label"
    for name in kind.raises_price:
        if name not in numbers:
            yield f"raises_price names {name!r}, which is no numeric attribute of it"
    if kind.name != fold(kind.name):
        yield "the name must be in lower case"
    for noun in kind.nouns:
        if not set(fold(kind.name).split()) <= set(fold(noun).split()):
            yield f"the noun {noun!r} lacks a word of the type's name"
    yield from _variant_problems(kind)


def _value_problems(name: str, values: Any, numeric: bool) -> Iterable[str]:
    if numeric != isinstance(values, tuple):
        yield f"{name!r} must be a {'list of numbers' if numeric else 'mapping from words to weights'}"
    elif numeric:
        if not 3 <= len(values) <= 10 or list(values) != sorted(set(values)):
            yield f"{name!r} needs 3 to 10 different numbers in ascending order"
    else:
        if not 2 <= len(values) <= 8 or len(set(map(fold, values))) < len(values) or min(values.values()) <= 0:
            yield f"{name!r} needs 2 to 8 different values with positive weights"
        for value in values:
            if any(sign in value for sign in ",/<>") or not value.strip():
                yield f"{name!r} has a value that cannot be said: {value!r}"


def _variant_problems(kind: TypeSpec) -> Iterable[str]:
    if kind.variant.attribute in kind.attributes:
        yield f"the variant attribute {kind.variant.attribute!r} is one of its attributes"
    if kind.variant.attribute in COMMON or kind.variant.attribute in SHOP_KEYS:
        yield f"the variant attribute {kind.variant.attribute!r} is taken"
    if len(set(map(fold, kind.variant.values))) < len(kind.variant.values):
        yield "two variant values are the same"
    texts = [kind.name, *kind.nouns]
    for values in kind.attributes.values():
        texts += values if isinstance(values, dict) else ()
    for value in kind.variant.values:
        for text in texts:
            if holds(text, value):
                yield f"the variant value {value!r} stands in {text!r}"


def holds(text: str, phrase: str) -> bool:
    """Whether a phrase stands in a text as whole words, whatever the letter case."""
    return spaced(phrase) in spaced(text)


@lru_cache(maxsize=50_000)  # the same values are compared with each other over and over
def spaced(text: str) -> str:
    """Folded words with one space around each and no punctuation."""
    return " " + " ".join(re.findall(r"[^\W_]+", fold(text))) + " "
