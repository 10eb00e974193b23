"""Load a catalog from local files whose columns have any names, by a mapping that says which is which.

Nothing is dropped silently and nothing made up: rows that cannot be sold (no title, no price) are counted by reason,
unknown values stay unknown, and the few fields that a mapping may ask to synthesize are named in the catalog's card.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ecomrlve.catalog.columns import Catalog, fold
from ecomrlve.catalog.extraction import TextFinder, cell_value, other_columns, settle_kinds, text_tokens, written_out
from ecomrlve.catalog.mapping import (
    ALL_OTHER_COLUMNS,
    SYNTHESIZABLE,
    AttributeFacts,
    CatalogMapping,
    ColumnAttribute,
    NumberSource,
    PathSource,
    TextSource,
)
from ecomrlve.catalog.mapping_source import guess_mapping, load_mapping
from ecomrlve.catalog.product import Variant
from ecomrlve.catalog.reading import Table, find_files, read_pairs, read_table
from ecomrlve.catalog.values import as_count, as_number, as_text, clean_text, known, parse_price, snake_case
from ecomrlve.errors import CatalogError
from ecomrlve.streams import key_of, unit_hash

# The type of products whose source gives none: a word that says so, and no real type.
UNKNOWN_TYPE = "unknown"
_as_json = json.JSONEncoder(sort_keys=True, default=str).encode
_IN_TEMPLATE = re.compile(r"\{([^{}]+)\}")


def load_file(
    path: str | Path | Sequence[str | Path],
    mapping: CatalogMapping | Mapping[str, Any] | str | Path | None = None,
    name: str | None = None,
) -> Catalog:
    """Load a catalog from files.

    Args:
        path: A file, a folder, a glob pattern such as ``pc_parts/*.jsonl``, or a list of these. Formats, by the
            file's ending: Parquet, CSV, TSV, JSONL, JSON, YAML; the text ones may be gzipped.
        mapping: Which column is which field: a dict, a YAML or JSON file, or the name of a built-in mapping; see
            `mapping.CatalogMapping`. Left out, columns are taken by their usual names.
        name: The catalog's name; left out, the file's or the folder's.

    Returns:
        The catalog. Its ``card`` tells the source files, how many rows were read, kept and dropped for what reason,
        which fields are synthesized, and notes on everything else that was left out or changed.

    Raises:
        CatalogError: A file or mapping that cannot be used; the message says what to do.
    """
    files, skipped = find_files(path)
    rules = None if mapping is None else load_mapping(mapping)
    tables = [read_table(file, rules.unpack if rules else None) for file in files]
    notes = [f"not read, as the format is unknown: {', '.join(skipped)}"] if skipped else []
    if rules is None:
        rules = guess_mapping(dict.fromkeys(column for table in tables for column in table.columns))
        fields = ", ".join(f"{key} = {value}" for key, value in _guessed(rules).items())
        notes.append(f"mapping guessed from the columns' names: {fields}")
    if name is None:
        name = tables[0].stem if len(tables) == 1 else files[0].resolve().parent.name
    return _Loader(rules, tables, notes).catalog(name)


def _guessed(rules: CatalogMapping) -> dict[str, str]:
    plain = rules.model_dump(exclude_defaults=True, exclude={"attributes"})
    return {key: value if isinstance(value, str) else value["column"] for key, value in plain.items()}


class _Loader:
    """Turns tables into records, counting what it leaves out."""

    def __init__(self, rules: CatalogMapping, tables: list[Table], notes: list[str]):
        self.rules = rules
        self.tables = tables
        self.notes = notes
        self.dropped: Counter[str] = Counter()
        self.counted: Counter[str] = Counter()  # Notes that come with a number of values.
        self.made: Counter[str] = Counter()  # Synthesized field → values.
        self.facts: dict[str, AttributeFacts] = {}
        self.types: dict[str, str] = {}  # Folded type → its first spelling.
        self.seen: set[str] = set()
        # Longest first, so that "Arctic Silver" goes before "Arctic".
        brands = sorted(rules.brand.brands, key=len, reverse=True) if rules.brand else []
        self.brands = [(fold(brand), brand) for brand in brands]
        self._check()
        self.offers = self._offers() if rules.variants else {}

    def catalog(self, name: str) -> Catalog:
        """Everything, in order."""
        records: list[dict[str, Any]] = []
        for table in self.tables:
            records += self._records(table)
        read = sum(len(table.rows) for table in self.tables)
        if not records:
            reasons = ", ".join(f"{count} × {reason}" for reason, count in self.dropped.most_common())
            raise CatalogError(f"none of the {read} rows can be kept: {reasons}; check the mapping and the file")
        attributes = settle_kinds(records, self.facts, self.counted)
        valueless = sorted(set(self.facts) - set(attributes))
        if valueless:
            self.notes.append(f"attributes without any value: {', '.join(valueless)}")
        self._note_unknowns(records)
        synthesized = [field for field in SYNTHESIZABLE if self.made[field]]
        card = {
            "source": [table.file for table in self.tables],
            "read": read,
            "kept": len(records),
            "dropped": dict(sorted(self.dropped.items())),
            "synthesized": synthesized,
            "notes": self.notes + [f"{text}: {count}" for text, count in sorted(self.counted.items())],
        }
        return Catalog.from_records(records, name=name, attributes=attributes, synthesized=synthesized, card=card)

    # -- before reading rows

    def _check(self) -> None:
        """Refuse a mapping that names columns which are not there, and note what of it has no use here."""
        columns = list(dict.fromkeys(column for table in self.tables for column in table.columns))
        listed = self.rules.attributes if isinstance(self.rules.attributes, dict) else {}
        what = "the file" if len(self.tables) == 1 else "the files"
        _refuse_missing(what, [*self.rules.used_columns(), *listed], columns)
        type_source, category = self.rules.type, self.rules.category
        circle = type_source and category and "@category" in type_source.used_columns()
        if circle and category and "@type" in category.used_columns():
            raise CatalogError("the mapping takes the type from the category and the category from the type")
        absent = sorted(set(self.rules.files) - {table.stem for table in self.tables})
        if absent:
            self.notes.append(f"the mapping has parts for files that are not there: {', '.join(absent)}")
        for table in self.tables:
            for column, how in self.rules.unpack.items():
                packed = sum(known(row.get(column)) is not None for row in table.rows)
                if packed:
                    self.counted[f"texts in column {column} that are not {how}, left as they are"] += packed
            section = self.rules.files.get(table.stem)
            if section:
                where = [column for spec in section.from_text.values() for column in spec.where]
                _refuse_missing(table.file, [*section.attributes, *where], table.columns)

    def _column_specs(self, table: Table) -> list[tuple[str, str, ColumnAttribute]]:
        """(column, attribute name, spec) for a table."""
        listed = self.rules.column_attributes(table.stem)
        specs = [
            (column, spec.name or snake_case(column), spec)
            for column, some in listed.items()
            if column in table.columns
            for spec in some
        ]
        used = [*self.rules.used_columns(), *listed]
        if self.rules.attributes == ALL_OTHER_COLUMNS:
            useful, useless = other_columns(table, used)
            specs += [(column, snake_case(column), ColumnAttribute()) for column in useful]
            for reason in sorted(set(useless.values())):
                names = ", ".join(column for column, why in useless.items() if why == reason)
                self.notes.append(f"{table.file}: columns that are no attributes ({reason}): {names}")
        else:
            unused = [column for column in table.columns if column not in used]
            if unused:
                self.notes.append(f"{table.file}: columns not used: {', '.join(unused)}")
        return specs

    def _learn(self, name: str, spec: AttributeFacts) -> None:
        """Remember what is known of an attribute; two files must not say different things about one name."""
        facts = AttributeFacts.model_validate({key: getattr(spec, key) for key in AttributeFacts.model_fields})
        if self.facts.setdefault(name, facts) != facts:
            raise CatalogError(
                f"the mapping describes attribute {name!r} in two ways (kind, unit, label, better or synonyms differ); "
                "make them equal or give one of them another name"
            )

    def _offers(self) -> dict[str, dict[str, Any]]:
        """Variant id → its row."""
        source = self.rules.variants
        assert source is not None
        rows = (row for table in self.tables for row in table.rows)
        return {as_text(row[source.id]): row for row in rows if known(row.get(source.id)) is not None}

    # -- rows

    def _records(self, table: Table) -> list[dict[str, Any]]:
        columns = self._column_specs(table)
        finders = {key: TextFinder(spec) for key, spec in self.rules.text_attributes(table.stem).items()}
        for key, spec in [*((key, spec) for _, key, spec in columns), *((k, f.spec) for k, f in finders.items())]:
            self._learn(key, spec)
        labels = {key: (facts.label or key.replace("_", " "), facts.unit) for key, facts in self.facts.items()}
        records = []
        for row in table.rows:
            record = self._record(table, row)
            if isinstance(record, str):
                self.dropped[record] += 1
                continue
            attributes: dict[str, Any] = {}
            for column, key, column_spec in columns:
                value = cell_value(row.get(column), column_spec)
                if value is not None:
                    attributes.setdefault(key, value)
            if finders:
                texts = {"title": record["title"], "description": record["description"]}
                tokens = text_tokens(texts)
                for key, finder in finders.items():
                    if key not in attributes and (word := finder.find(texts, tokens, row)) is not None:
                        attributes[key] = word
            record["attributes"] = attributes
            if self.rules.description and self.rules.description.from_attributes:
                record["description"] = written_out(attributes, labels)
            records.append(record)
        return records

    def _record(self, table: Table, row: Mapping[str, Any]) -> dict[str, Any] | str:
        """The product of a row without its attributes, or the reason to drop it."""
        rules = self.rules
        for column, values in rules.where.items():
            if fold(as_text(row.get(column))) not in map(fold, values):
                return f"{column} is not {' or '.join(values)}"
        stand_ins: dict[str, Any] = {"@file": re.sub(r"[-_]+", " ", table.stem).strip()}
        title = " ".join(self._text(rules.title, row, stand_ins).split())
        if not title:
            return "title missing"
        price, why = parse_price(self._raw(rules.price, row, stand_ins))
        if price is None:
            return why
        # With neither id nor @row, the whole row is what tells this product's synthesized values from others'.
        own_id = as_text(known(row.get(rules.id))) if rules.id and rules.id != "@row" else ""
        identity = own_id or f"{table.stem} {_as_json(row)}"
        if rules.id and (own_id or rules.id == "@row"):
            if identity in self.seen:
                return "duplicate"
            self.seen.add(identity)
        category, type_name = self._place(table, row, stand_ins)
        description = "" if rules.description is None else self._text(rules.description, row, stand_ins)
        record: dict[str, Any] = {
            "title": title, "price": price, "type": type_name, "category": category, "description": description,
            "brand": self._brand(row, title),
        }  # fmt: skip
        key = key_of("synthesized", identity) if rules.synthesize else 0
        for field in SYNTHESIZABLE:
            value = self._number(field, row)
            if value is None and field in rules.synthesize:
                value = _synthesized(field, key)
                self.made[field] += 1
            record[field] = value
        if rules.features:
            record["features"] = self._features(row.get(rules.features))
        if rules.variants:
            record["variants"] = self._variants(row, price, record["stock"])
        return record

    def _clean(self, value: Any) -> str:
        text, removed = clean_text(as_text(value))
        if removed:
            self.counted["control characters removed from texts"] += removed
        return text

    def _raw(self, source: TextSource, row: Mapping[str, Any], stand_ins: Mapping[str, Any]) -> Any:
        """The value that a source gives for a row, as the file has it; None where unknown."""

        def get(column: str) -> Any:
            return known(stand_ins.get(column) if column.startswith("@") else row.get(column))

        if source.template is not None:
            parts = {column: get(column) for column in _IN_TEMPLATE.findall(source.template)}
            if any(part is None for part in parts.values()):
                return None
            return _IN_TEMPLATE.sub(lambda match: as_text(parts[match[1]]), source.template)
        columns = [source.column] if source.column is not None else source.columns
        return next((value for column in columns if (value := get(column)) is not None), None)

    def _text(self, source: TextSource, row: Mapping[str, Any], stand_ins: Mapping[str, Any]) -> str:
        value = self._raw(source, row, stand_ins)
        if isinstance(value, list):
            value = " ".join(as_text(item) for item in value if known(item) is not None)
        text = "" if value is None else self._clean(value)
        return source.values.get(fold(text), text) if source.values else text

    def _place(self, table: Table, row: Mapping[str, Any], stand_ins: dict[str, Any]) -> tuple[Any, str]:
        """The category path, None where unknown, and the product type."""
        source = self.rules.type
        fixed = self.rules.files[table.stem].type if table.stem in self.rules.files else None
        if source is None and not fixed:
            source = TextSource(column="@category" if self.rules.category else "@file")
        if fixed or (source and "@category" not in source.used_columns()):
            stand_ins["@type"] = fixed or (self._text(source, row, stand_ins) if source else "")
        path = self._path(self.rules.category, row, stand_ins) if self.rules.category else ()
        stand_ins["@category"] = path[-1] if path else None
        name = stand_ins.get("@type") or (self._text(source, row, stand_ins) if source else "")
        name = " ".join(name.split())
        if not name:
            name = UNKNOWN_TYPE
            self.counted[f"products whose type is unknown, listed as {UNKNOWN_TYPE!r}"] += 1
        # The store looks types up whatever their letter case, so that there must be one spelling of each.
        return (path or None), self.types.setdefault(fold(name), name)

    def _path(self, source: PathSource, row: Mapping[str, Any], stand_ins: Mapping[str, Any]) -> tuple[str, ...]:
        value = self._raw(source, row, stand_ins)
        if value is None:
            return ()
        if not isinstance(value, list):
            text = as_text(value)
            if source.alternatives:
                text = text.split(source.alternatives)[0]
            value = text.split(source.separator) if source.separator else [text]
        steps = [" ".join(self._clean(step).split()) for step in value if known(step) is not None]
        return tuple(source.values.get(fold(step), step) for step in steps if step and step not in source.drop)

    def _brand(self, row: Mapping[str, Any], title: str) -> str | None:
        source = self.rules.brand
        if source is None:
            return None
        if source.column is not None:
            value = known(row.get(source.column))
            return (" ".join(self._clean(value).split()) or None) if value is not None else None
        folded = fold(title)
        for start, brand in self.brands:
            if folded.startswith(start) and not folded[len(start) : len(start) + 1].isalnum():
                return brand
        return title.split()[0] if source.from_title == "first_word" else None

    def _number(self, field: str, row: Mapping[str, Any]) -> float | int | None:
        source: NumberSource | None = getattr(self.rules, field)
        value = None if source is None else known(row.get(source.column))
        if source is None or value is None:
            return None
        meant = source.values.get(fold(as_text(value))) if source.values else None
        number = as_number(value) if meant is None else meant
        number = None if number is None else float(f"{number * source.scale:.12g}")
        result = number if field == "rating" else as_count(number)
        if result is None or (field == "rating" and not 1 <= result <= 5):
            what = "not a rating from 1 to 5" if field == "rating" else "not a whole number from 0"
            self.counted[f"values of {field} that are {what}, left unknown"] += 1
            return None
        return result

    def _features(self, value: Any) -> tuple[str, ...]:
        value = known(value)
        items = value if isinstance(value, list) else [] if value is None else [value]
        return tuple(text for item in items if known(item) is not None and (text := self._clean(item)))

    def _variants(self, row: Mapping[str, Any], price: float, stock: Any) -> tuple[Variant, ...]:
        source = self.rules.variants
        assert source is not None
        cell = known(row.get(source.column))
        if isinstance(cell, str):
            cell = [read_pairs(part) for part in cell.split(source.separator)]
        found: dict[tuple[tuple[str, str], ...], Variant] = {}
        for entry in cell if isinstance(cell, list) else []:
            if not isinstance(entry, dict):
                continue
            offer = {**self.offers.get(as_text(entry.get(source.id, "")), {}), **entry}
            own = {key: self._clean(entry[key]) for key in source.attributes if known(entry.get(key)) is not None}
            cost, why = parse_price(offer.get(source.price, price))
            if not own or cost is None:
                self.counted[f"variants left out ({why or 'without attributes'})"] += 1
                continue
            units = as_count(known(offer.get(source.stock)))
            variant = Variant(own, cost, int(stock or 0) if units is None else units)
            if found.setdefault(tuple(own.items()), variant) is not variant:
                self.counted["variants left out (the same as another)"] += 1
        return tuple(found.values())

    # -- after reading rows

    def _note_unknowns(self, records: list[dict[str, Any]]) -> None:
        for field in ("brand", *SYNTHESIZABLE):
            unknown = sum(record[field] is None for record in records)
            if unknown:
                extra = ", so that they count as sold out" if field == "stock" else ""
                self.notes.append(f"{field} unknown for {unknown} of {len(records)} products{extra}")
            if self.made[field]:
                self.notes.append(f"{field} synthesized for {self.made[field]} of {len(records)} products")


def _refuse_missing(where: str, wanted: Sequence[str], columns: Sequence[str]) -> None:
    missing = [column for column in wanted if column not in columns]
    if missing:
        raise CatalogError(
            f"the mapping names columns that {where} does not have: {', '.join(missing)}. "
            f"The columns are {', '.join(columns)}"
        )


def _synthesized(field: str, key: int) -> float | int:
    """A plausible value that depends on the product alone: the same in every run, whatever the order of rows."""
    share = unit_hash(key, SYNTHESIZABLE.index(field))
    if field == "rating":  # From 3.0 to 4.9, mostly above 4, as shops' ratings are.
        return round(3.0 + 1.9 * math.sqrt(share), 1)
    if field == "rating_count":  # From 3 to 2,999, evenly over the orders of magnitude.
        return int(3 * 10 ** (3 * share))
    if field == "ship_days":
        return 1 + int(7 * share)
    return 3 + int(58 * share)  # Stock, from 3 to 60.
