"""The card of a catalog from the Hub: what was read, kept, dropped and changed, as plain values and for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ecomrlve.catalog.hub_attributes import Settled
from ecomrlve.catalog.hub_rows import SYNTHESIZED, RowReader

# Of long lists, people are shown this many names; the card itself has more, but not a tail of misspelled keys.
MOST_SHOWN, MOST_LISTED = 12, 200
SYNTHESIS = (
    "stock and days to ship are not in the source; they are made up from the product's id by a hash, stock from 3 to "
    "60 and days from 1 to 7, and so are the same in every run",
    "variants are not in the source; each episode makes them by the rule that serves every catalog",
    "price, rating, number of ratings, brand, category and attributes are never made up: unknown stays unknown",
)


def make_card(source: Mapping[str, Any], reader: RowReader, settled: Settled) -> dict[str, Any]:
    """The card, as plain values.

    Args:
        source: What was read: ``source``, ``revision``, ``limit`` and ``splits_not_read``.
        reader: What reading all rows found out.
        settled: The attributes.
    """
    noted = _told(reader.noted) + _told(settled.notes)
    left_out = {
        reason: {"count": len(names), "names": names[:MOST_LISTED]}
        for reason, names in sorted(settled.left_out.items())
    }
    return {
        **source,
        "read": reader.read,
        "kept": reader.kept,
        "dropped": dict(sorted(reader.dropped.items())),
        "synthesized": list(SYNTHESIZED),
        "notes": [*SYNTHESIS, *noted],
        "attributes": {
            name: {"kind": attribute.kind, "unit": attribute.unit, "known_for": settled.known_for[name]}
            for name, attribute in settled.attributes.items()
        },
        "attributes_left_out": left_out,
    }


def _told(counts: Mapping[str, int]) -> list[str]:
    return [f"{text}: {count}" for text, count in sorted(counts.items())]


def readable_card(card: Mapping[str, Any]) -> str:
    """A card as Markdown.

    Args:
        card: What `load_hub` put into the catalog's ``card``.
    """
    kept, read = card.get("kept", 0), card.get("read", 0)
    lines = [f"# {_safe(card.get('source', 'catalog'))}", ""]
    if card.get("revision"):
        lines.append(f"Revision {_safe(card['revision'])}.")
    if card.get("limit"):
        lines.append(f"The first {card['limit']:,} rows only.")
    if card.get("splits_not_read"):
        lines.append(f"Not read: {', '.join(map(_safe, card['splits_not_read']))}.")
    lines += [f"{read:,} rows read, {kept:,} kept, {read - kept:,} dropped.", ""]
    if card.get("dropped"):
        lines += ["| dropped because | rows |", "|---|---:|"]
        ordered = sorted(card["dropped"].items(), key=lambda item: (-item[1], item[0]))
        lines += [*(f"| {_safe(reason)} | {count:,} |" for reason, count in ordered), ""]
    lines += [f"Synthesized: {', '.join(card.get('synthesized', ())) or 'nothing'}.", ""]
    lines += [*(f"- {_safe(note)}" for note in card.get("notes", ())), ""]
    attributes = card.get("attributes", {})
    if attributes:
        lines += [f"## {len(attributes)} attributes", "", "| name | kind | unit | known for |", "|---|---|---|---:|"]
        lines += [
            f"| {_safe(name)} | {facts['kind']} | {_safe(facts['unit'])} | {facts['known_for']:,} |"
            for name, facts in attributes.items()
        ]
        lines.append("")
    for reason, some in card.get("attributes_left_out", {}).items():
        shown = [_safe(name) for name in some["names"][:MOST_SHOWN]]
        rest = some["count"] - len(shown)
        lines.append(f"- left out, {_safe(reason)}: {', '.join(shown)}{f' and {rest:,} more' if rest else ''}")
    return "\n".join(lines).rstrip() + "\n"


def _safe(text: object) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")
