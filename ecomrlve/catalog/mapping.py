"""Column mappings: which column of somebody's file is which field of a product.

A mapping is a dict or a YAML or JSON file. `CatalogMapping` is the whole of it; every key is explained there. Texts
starting with ``@`` stand for values that are no column: ``@file`` (the file's name as words), ``@category`` (the last
step of the category path), ``@type``, and ``@row`` (the whole row).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from ecomrlve.catalog.columns import COMMON, fold
from ecomrlve.catalog.product import Attribute
from ecomrlve.catalog.values import snake_case

ALL_OTHER_COLUMNS = "all other columns"
SYNTHESIZABLE = ("rating", "rating_count", "ship_days", "stock")
_IN_TEMPLATE = re.compile(r"\{([^{}]+)\}")


def _fold_keys(values: dict[str, Any]) -> dict[str, Any]:
    return {fold(key): value for key, value in values.items()}


# Replacements look the source's words up whatever their letter case and spacing; folded once, not for every cell.
Replacements = Annotated[dict[str, str], AfterValidator(_fold_keys)]
Meanings = Annotated[dict[str, float], AfterValidator(_fold_keys)]


class _Part(BaseModel):
    """A part of a mapping: it refuses keys that it does not know and names those that it does."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _from_plain(cls, data: Any) -> Any:
        if isinstance(data, str):
            data = cls._from_word(data)
        if isinstance(data, Mapping):
            unknown = sorted(str(key) for key in data if key not in cls.model_fields)
            if unknown:
                raise ValueError(f"unknown key {', '.join(unknown)}; the known keys are {', '.join(cls.model_fields)}")
        return data

    @classmethod
    def _from_word(cls, word: str) -> Any:
        """What a lone text in the place of this part means."""
        return {"template": word} if "template" in cls.model_fields and "{" in word else {"column": word}


class TextSource(_Part):
    """Where a text comes from; a lone text is short for ``column`` or, with braces in it, ``template``.

    Attributes:
        column: One column.
        columns: The first of these that has a value in the row.
        template: A text with column names in braces; unknown where one of them is.
        values: Texts to replace: what the source gives → what to write.
    """

    column: str | None = None
    columns: tuple[str, ...] = ()
    template: str | None = None
    values: Replacements = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_source(self) -> TextSource:
        given = (self.column is not None) + bool(self.columns) + (self.template is not None)
        if given != self._sources_needed():
            raise ValueError("give exactly one of column, columns and template")
        return self

    def _sources_needed(self) -> int:
        return 1

    def used_columns(self) -> list[str]:
        """The columns it reads."""
        inside = _IN_TEMPLATE.findall(self.template) if self.template else []
        return [*([self.column] if self.column else []), *self.columns, *inside]


class DescriptionSource(TextSource):
    """A text, or the product's attributes written out where the file has no description.

    Attributes:
        from_attributes: Write ``Size: 120 mm. Color: Black.`` from the attributes; give no column then.
    """

    from_attributes: bool = False

    def _sources_needed(self) -> int:
        return 0 if self.from_attributes else 1


class PathSource(TextSource):
    """Where the category path comes from. A list in a cell is the path itself.

    Attributes:
        separator: What stands between two steps.
        alternatives: What stands between two paths in one cell; the first path is taken.
        drop: Steps to leave out, such as the shop's own root.
    """

    separator: str = "/"
    alternatives: str = ""
    drop: tuple[str, ...] = ()


class NumberSource(_Part):
    """Where a number comes from; a lone text is short for ``column``.

    Attributes:
        column: The column.
        scale: Factor: 0.5 turns a rating out of 10 into one out of 5.
        values: Texts and the numbers that they mean: ``{"Ships overnight": 1}``.
    """

    column: str
    scale: float = 1.0
    values: Meanings = Field(default_factory=dict)


class BrandSource(_Part):
    """Where the brand comes from; a lone text is short for ``column``.

    Attributes:
        column: The column.
        from_title: ``known``: a title that starts with one of ``brands`` is of that brand. ``first_word``: the same,
            else the title's first word is the brand.
        brands: Brands to look for, above all those of several words.
    """

    column: str | None = None
    from_title: Literal["first_word", "known"] | None = None
    brands: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _one_source(self) -> BrandSource:
        if (self.column is None) == (self.from_title is None):
            raise ValueError("give either column or from_title")
        return self


class AttributeFacts(_Part):
    """What is known about an attribute, whatever it comes from.

    Attributes:
        kind: ``number`` or ``category``; left out, ``number`` if every value is a number.
        unit: What people write after the number.
        label: How people say it; left out, the name with spaces.
        better: Which way people want the number to go: ``more`` or ``less``.
        synonyms: Other words to ask with.
    """

    kind: Literal["number", "category"] | None = None
    unit: str = ""
    label: str = ""
    better: Literal["more", "less", ""] = ""
    synonyms: tuple[str, ...] = ()

    def as_attribute(self, name: str, kind: str) -> Attribute:
        """The fact sheet of the attribute."""
        return Attribute(name, kind, self.label or name.replace("_", " "), self.unit, self.synonyms, self.better)


class ColumnAttribute(AttributeFacts):
    """An attribute that a column holds; a lone text is short for ``name``. The steps are done in this order.

    Attributes:
        name: Its name; left out, the column's in snake_case.
        separator: Split a text into a list.
        index: Which item of a list: a position, ``min``, ``max`` or ``product``; left out, all, joined by ``join``.
        join: What to put between the items of a list.
        values: Values to replace (truth values are ``yes`` and ``no``).
        pattern: Keep what the first group of this regular expression finds.
        scale: Factor of a number.
        template: A text around the value: ``DDR{}``.
    """

    name: str = ""
    separator: str = ""
    index: int | Literal["min", "max", "product"] | None = None
    join: str = ", "
    values: Replacements = Field(default_factory=dict)
    pattern: re.Pattern[str] | None = None
    scale: float = 1.0
    template: str = ""

    @cached_property
    def plain(self) -> bool:
        """Whether a lone value is taken as it stands."""
        steps = (self.separator, self.index not in (None, 0, -1), self.values, self.pattern, self.template)
        return not any(steps) and self.scale == 1

    @classmethod
    def _from_word(cls, word: str) -> Any:
        return {"name": word}


class TextAttribute(AttributeFacts):
    r"""An attribute that is found in the product's texts.

    Attributes:
        words: Words to find, or value → words that mean it. The first one in the first text that has any is taken.
        pattern: Or a regular expression; what its first group finds is the value.
        look_in: The texts, in order.
        ignore: Regular expressions of phrases to skip: ``against an? \w+ background``.
        where: Column → values: only rows that have one of the values.
    """

    words: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    pattern: re.Pattern[str] | None = None
    look_in: tuple[Literal["title", "description"], ...] = ("title", "description")
    ignore: tuple[re.Pattern[str], ...] = ()
    where: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _list_of_words(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and isinstance(data.get("words"), list | tuple):
            data = {**data, "words": {str(word): () for word in data["words"]}}
        return data

    @model_validator(mode="after")
    def _one_source(self) -> TextAttribute:
        if bool(self.words) == bool(self.pattern):
            raise ValueError("give either words or pattern")
        if self.pattern is not None and self.pattern.groups < 1:
            raise ValueError("the pattern needs a group in round brackets around the value")
        return self


class VariantSource(_Part):
    """Where the variants that the file lists come from.

    Attributes:
        column: A column with a list of objects, or with a text such as ``sku=A1,size=S|sku=A2,size=M``.
        attributes: The fields that tell variants apart.
        id: The field with the variant's id. Where a row of the file has that id, price and stock come from there.
        price: The field with its price; without one, the product's price holds.
        stock: The field with its stock.
        separator: What stands between two variants in a text.
    """

    column: str
    attributes: tuple[str, ...] = Field(min_length=1)
    id: str = "sku"
    price: str = "price"
    stock: str = "stock"
    separator: str = "|"


def _attribute_list(value: Any) -> Any:
    if value is None:
        return ({},)
    return tuple(value) if isinstance(value, list | tuple) else (value,)


ColumnAttributes = dict[str, Annotated[tuple[ColumnAttribute, ...], BeforeValidator(_attribute_list)]]


class FileSection(_Part):
    """What holds for one file only, in addition to the rest of the mapping.

    Attributes:
        type: The product type of all rows, as a plain text.
        attributes: Column → attribute or list of attributes.
        from_text: Name → attribute found in the texts.
    """

    type: str | None = None
    attributes: ColumnAttributes = Field(default_factory=dict)
    from_text: dict[str, TextAttribute] = Field(default_factory=dict)

    @classmethod
    def _from_word(cls, word: str) -> Any:
        return {"type": word}


class CatalogMapping(_Part):
    """Which column is which field. Fields without a source stay unknown.

    Attributes:
        title, price: Required. Rows without them are dropped and counted.
        type: The product type; left out, the last step of the category, else the file's name.
        description, category, brand, rating, rating_count, ship_days, stock: See their classes.
        features: A column with a list of selling points.
        id: What is the same in two rows of the same product; of those the first is kept. ``@row``: the whole row.
        attributes: Column → attribute or list of attributes (nothing after the colon: as it is), or
            ``all other columns``.
        from_text: Name → attribute found in the texts.
        files: A file's name without suffix → what holds for that file only.
        where: Column → values: rows that have none of them are dropped and counted.
        unpack: Column → ``json`` or ``pairs``: texts that hold several values; see `reading.read_table`.
        variants: The variants that the file lists.
        synthesize: Which of rating, rating_count, ship_days and stock to make up where the file has none. They are
            fixed by the product, named in the catalog's card, and nothing else is made up.
    """

    title: TextSource
    price: TextSource
    type: TextSource | None = None
    description: DescriptionSource | None = None
    category: PathSource | None = None
    brand: BrandSource | None = None
    rating: NumberSource | None = None
    rating_count: NumberSource | None = None
    ship_days: NumberSource | None = None
    stock: NumberSource | None = None
    features: str | None = None
    id: str | None = None
    attributes: Literal["all other columns"] | ColumnAttributes = Field(default_factory=dict)
    from_text: dict[str, TextAttribute] = Field(default_factory=dict)
    files: dict[str, FileSection] = Field(default_factory=dict)
    where: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    unpack: dict[str, Literal["json", "pairs"]] = Field(default_factory=dict)
    variants: VariantSource | None = None
    synthesize: tuple[Literal["rating", "rating_count", "ship_days", "stock"], ...] = ()

    @classmethod
    def _from_word(cls, word: str) -> Any:
        return word  # A lone text is no mapping; pydantic says so.

    @model_validator(mode="after")
    def _names_are_free(self) -> CatalogMapping:
        listed = self.attributes if isinstance(self.attributes, dict) else {}
        for part in (listed, *(section.attributes for section in self.files.values())):
            for column, specs in part.items():
                for spec in specs:
                    _check_name(spec.name or snake_case(column), f"attributes, {column}")
        for texts in (self.from_text, *(section.from_text for section in self.files.values())):
            for name in texts:
                _check_name(name, "from_text")
        return self

    def column_attributes(self, stem: str) -> ColumnAttributes:
        """The listed column attributes of a file; its own section goes before the general part."""
        general = self.attributes if isinstance(self.attributes, dict) else {}
        return {**general, **self.files[stem].attributes} if stem in self.files else general

    def text_attributes(self, stem: str) -> dict[str, TextAttribute]:
        """The attributes of a file that are found in its texts."""
        return {**self.from_text, **self.files[stem].from_text} if stem in self.files else self.from_text

    def used_columns(self) -> list[str]:
        """The columns that the fields, not the attributes, are read from; without ``@`` words."""
        used: list[str] = [*self.where, *(column for text in self.from_text.values() for column in text.where)]
        for text in (self.title, self.price, self.type, self.description, self.category):
            used += text.used_columns() if text else []
        for number in (self.rating, self.rating_count, self.ship_days, self.stock, self.variants):
            used += [number.column] if number else []
        used += [self.brand.column] if self.brand and self.brand.column else []
        used += [name for name in (self.features, self.id) if name]
        return [name for name in dict.fromkeys(used) if not name.startswith("@")]


def _check_name(name: str, place: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ValueError(f"{place}: attribute name {name!r} is not snake_case; give a name such as battery_life")
    if name in COMMON:
        raise ValueError(f"{place}: {name!r} is a field of every product; map it as such, or give another name")
