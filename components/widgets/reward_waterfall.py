"""What a finished episode was worth."""

from __future__ import annotations

from components.widgets.base import Widget


class RewardWaterfall(Widget):
    """Reward, goal against what was done, ledger.

    `select` carries {how: again | another | harder, seed}, and `play` asks for the replay.
    """

    frame = "ec-result"
    script = "reward_waterfall.js"
