"""The cart."""

from __future__ import annotations

from components.widgets.base import Widget


class CartPanel(Widget):
    """The lines that the cart tools last returned."""

    frame = "ec-cart"
    script = "cart_panel.js"
