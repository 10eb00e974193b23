"""All wiring of the Space: which event calls what, and what it changes; one module per tab.

Every handler returns the session, because a state's time to live counts from when it was last an output. A session that
is gone (its time was over, or the server was started anew) is rebuilt from the log that the page sends along.
"""

from components.events.between import wire_between
from components.events.compare import wire_compare
from components.events.curriculum import wire_curriculum
from components.events.leaderboard import wire_leaderboard
from components.events.play import wire_play
from components.events.trajectories import wire_trajectories
from components.events.watch import wire_watch

__all__ = [
    "wire_between",
    "wire_compare",
    "wire_curriculum",
    "wire_leaderboard",
    "wire_play",
    "wire_trajectories",
    "wire_watch",
]
