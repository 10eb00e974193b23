"""The customer's account."""

from __future__ import annotations

from components.widgets.base import Widget


class ProfilePanel(Widget):
    """The account as user_get_profile returned it."""

    frame = "ec-profile"
    script = "profile_panel.js"
