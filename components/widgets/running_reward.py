"""What a recorded episode would have been worth at each step."""

from __future__ import annotations

from components.widgets.base import Widget


class RunningReward(Widget):
    """Follows the timeline; `submit` asks for the episode {key}, the value is {key, points} or {key, problem}."""

    frame = "ec-running"
    attributes = 'role="region" aria-label="Running reward" hidden'
    script = "running_reward.js"
