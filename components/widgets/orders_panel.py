"""The customer's orders."""

from __future__ import annotations

from components.widgets.base import Widget


class OrdersPanel(Widget):
    """Orders as the order tools returned them, whose ids can be put into the tool form or the answer."""

    frame = "ec-orders"
    script = "orders_panel.js"
