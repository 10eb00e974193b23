"""The products that tools have shown."""

from __future__ import annotations

from components.widgets.base import Widget


class ProductCards(Widget):
    """Cards, newest first, whose ids can be put into the tool form or the answer."""

    frame = "ec-cards"
    script = "product_cards.js"
