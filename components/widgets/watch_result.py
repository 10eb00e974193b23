"""What a watched episode was worth."""

from __future__ import annotations

from components.widgets.base import Widget


class WatchResult(Widget):
    """Reward, hidden goal, ledger; `select` carries {how}, in which the same agent goes on: again, next or harder."""

    frame = "ec-watch-result ec-result"
    script = "watch_result.js"
