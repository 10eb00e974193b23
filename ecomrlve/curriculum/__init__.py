"""Which difficulty the next episodes have: raised where an environment is mastered, never lowered.

Every environment has a window of difficulties [low, high], both 0 at first. Each episode's d is drawn from the window,
but only episodes at d = high decide: when enough of them are on record, their success rate either raises the window or
their count begins anew. A schedule knows nothing of models or training. It draws, it counts, and once per batch it
decides, so that several processes that are fed the same batches agree on every window and every draw.
"""

from ecomrlve.curriculum.log import LogEntry, read_log
from ecomrlve.curriculum.schedules import (
    MIN_EPISODES,
    THRESHOLD,
    WIDTH,
    Curriculum,
    Outcome,
    Progress,
    Schedule,
    StaticCurriculum,
    schedule_from_dict,
)
from ecomrlve.curriculum.state import CurriculumError, Window

__all__ = [
    "MIN_EPISODES",
    "THRESHOLD",
    "WIDTH",
    "Curriculum",
    "CurriculumError",
    "LogEntry",
    "Outcome",
    "Progress",
    "Schedule",
    "StaticCurriculum",
    "Window",
    "read_log",
    "schedule_from_dict",
]
